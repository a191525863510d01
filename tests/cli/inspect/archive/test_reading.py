"""What is read of a deployment, by what AWS answers; nothing is asked that could change it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.inspect.archive.archive import Archive
from hyperpod_cli.inspect.archive.deployment import unsettled
from hyperpod_cli.inspect.archive.hiding import HIDDEN, hidden
from hyperpod_cli.inspect.archive.reading import archive_of
from tests.support.archives import ACCOUNT, REGION
from tests.support.provisioner.fake_s3 import zipped
from tests.support.stages import DEFAULT

ROLE = f"arn:aws:iam::{ACCOUNT}:role/path/own-cfn-role"
POLICY = {"Version": "2012-10-17", "Statement": []}
EKS_ARN = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/ml-eks"
SCRIPTS = "0" * 64 + ".zip"
CLUSTER = {
    "ClusterName": "named-before",
    "ClusterArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/a",
    "ClusterStatus": "Updating",
    "InstanceGroups": [{"InstanceGroupName": "workers", "TargetCount": 1}],
    "Orchestrator": {"Eks": {"ClusterArn": EKS_ARN}},
}
EKS = {
    "name": "ml-eks",
    "version": "1.34",
    "status": "ACTIVE",
    # Where nothing listens.
    "endpoint": "https://127.0.0.1:9",
    "tags": {"api-token": "s3cret"},
}
ADDON = {"addonName": "a", "status": "DEGRADED", "configurationValues": "password: s3cret"}
GROUP = {
    "clusterName": "ml-eks",
    "nodegroupName": "system",
    "status": "ACTIVE",
    "scalingConfig": {"minSize": 0, "maxSize": 3, "desiredSize": 2},
}
NODE = {"InstanceId": "i-1", "InstanceGroupName": "workers", "InstanceType": "ml.m5.large"}
TEMPLATE = {
    "Resources": {
        "Scripts": {
            "Type": "Custom::LifecycleScripts",
            "Properties": {"SourceKey": SCRIPTS, "SourceBucket": "assets"},
        }
    }
}


def refused(operation: str, code: str, message: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


class Body:
    """What GetObject answers."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self) -> bytes:
        return self.content


class Account:
    """An account that answers; what it was asked is kept."""

    def __init__(self, **answers: object) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.answers: dict[str, object] = {
            "GetCallerIdentity": {"Account": ACCOUNT},
            "DescribeStacks": self._stack,
            "GetTemplate": {"TemplateBody": TEMPLATE},
            "ListStackResources": {
                "StackResourceSummaries": [
                    {
                        "LogicalResourceId": "Cluster",
                        "PhysicalResourceId": "named-before",
                        "ResourceType": "Custom::HyperPodCluster",
                        "ResourceStatus": "UPDATE_COMPLETE",
                    }
                ]
            },
            "DescribeCluster": self._cluster,
            "ListClusterNodes": {
                "ClusterNodeSummaries": [{**NODE, "InstanceStatus": {"Status": "Running"}}]
            },
            "ListAddons": {"addons": ["a"]},
            "DescribeAddon": {"addon": ADDON},
            "ListNodegroups": {"nodegroups": ["system"]},
            "DescribeNodegroup": {"nodegroup": GROUP},
            "GetRole": {
                "Role": {
                    "PermissionsBoundary": {"PermissionsBoundaryArn": "arn:aws:iam::1:policy/b"}
                }
            },
            "ListAttachedRolePolicies": {"AttachedPolicies": []},
            "ListRolePolicies": {"PolicyNames": ["own"]},
            "GetRolePolicy": {"PolicyDocument": POLICY},
            "GetPolicy": {"Policy": {"DefaultVersionId": "v3"}},
            "GetPolicyVersion": {"PolicyVersion": {"Document": POLICY}},
            "GetObject": {"Body": Body(zipped({"own/on_create.sh": b"echo hello\n"}))},
            **answers,
        }

    def _stack(self, asked: Mapping[str, Any]) -> object:
        if asked["StackName"] != "ml-hyperpod":
            message = f"Stack {asked['StackName']} does not exist"
            raise refused("DescribeStacks", "ValidationError", message)
        parameters = [{"ParameterKey": "Key", "ParameterValue": "****"}]
        stack = {"StackName": "ml-hyperpod", "StackStatus": "UPDATE_COMPLETE", "RoleARN": ROLE}
        return {"Stacks": [{**stack, "Parameters": parameters}]}

    def _cluster(self, asked: Mapping[str, Any]) -> object:
        return CLUSTER if "ClusterName" in asked else {"cluster": EKS}

    def answer(self, operation: str, asked: Mapping[str, Any]) -> object:
        self.asked.append((operation, asked))
        answer = self.answers[operation]
        if isinstance(answer, Exception):
            raise answer
        return answer(asked) if callable(answer) else answer


Read = Callable[..., tuple[Archive, Account]]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """Return what reads the deployment from an account with other answers."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "example")

    def reading(**answers: object) -> tuple[Archive, Account]:
        account = Account(**answers)

        def answer(_client: object, operation: str, asked: Mapping[str, Any]) -> object:
            return account.answer(operation, asked)

        monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answer)
        return archive_of(load_config(DEFAULT), session=AwsSession(region=REGION)), account

    return reading


def test_the_cluster_is_that_of_the_stacks_whatever_the_file_calls_it(read: Read) -> None:
    found, account = read()
    assert ("DescribeCluster", {"ClusterName": "named-before"}) in account.asked
    assert [each.id for each in found.deployment.nodes] == ["i-1"]
    assert found.deployment.control_plane is not None
    assert found.deployment.control_plane["name"] == "ml-eks"
    assert found.deployment.node_groups == (GROUP,)


def test_policies_are_those_of_the_role_of_the_stacks_and_of_its_boundary(read: Read) -> None:
    found, account = read()
    assert ("GetRole", {"RoleName": "own-cfn-role"}) in account.asked
    assert found.deployment.cloudformation == {"own": POLICY}
    assert found.deployment.boundary == {"arn:aws:iam::1:policy/b": POLICY}


def test_no_secret_is_in_it(read: Read) -> None:
    script = b"export HF_TOKEN=hf_s3cret\nTOKEN=$(curl -s http://a)\nPASSWORD=$1\n"
    found, _ = read(GetObject={"Body": Body(zipped({"own/on_create.sh": script}))})
    assert found.assets == {}
    assert "s3cret" not in found.deployment.model_dump_json()
    assert found.deployment.hidden == (
        "ml-hyperpod parameters: Key",
        "control plane: tags.api-token",
        f"{SCRIPTS}: own/on_create.sh: HF_TOKEN",
    )


def test_scripts_without_secrets_are_in_it(read: Read) -> None:
    found, _ = read()
    assert found.assets.keys() == {SCRIPTS}
    found, _ = read(GetObject={"Body": Body(b"echo hello")})
    assert found.assets == {SCRIPTS: b"echo hello"}


def test_kubernetes_that_cannot_be_reached_is_asked_once(read: Read) -> None:
    found, _ = read()
    told = [each.split(":")[0] for each in found.deployment.unread]
    assert told == ["the pods", "the nodes of EKS", "the Helm releases", "the claims"]
    assert all("cannot be reached" in each for each in found.deployment.unread)


@pytest.mark.parametrize("operation", ["ListClusterNodes", "ListAddons", "GetRole", "GetObject"])
def test_what_may_not_be_read_is_told(
    read: Read, operation: str, snapshot: SnapshotAssertion
) -> None:
    found, _ = read(**{operation: refused(operation, "AccessDenied")})
    assert [each for each in found.deployment.unread if "cannot be reached" not in each] == snapshot


def test_what_is_not_in_service_is_told(read: Read) -> None:
    found, _ = read()
    assert [*unsettled(found.deployment)] == [
        ("the HyperPod cluster", "Updating"),
        ("add-on a", "DEGRADED"),
    ]


def test_nothing_is_asked_that_changes_anything(read: Read) -> None:
    _, account = read()
    assert {each.startswith(("Describe", "Get", "List")) for each, _ in account.asked} == {True}


VALUES = json.dumps({"mlflow": {"apiKey": "s3cret", "existingSecret": "name", "port": 80}})


@pytest.mark.parametrize(
    ("values", "left", "places"),
    [
        ({"Values": VALUES}, ["name", "80"], ["Values.mlflow.apiKey"]),
        ({"Env": [{"name": "API_TOKEN", "value": "s3cret"}]}, ["API_TOKEN"], ["Env.0.value"]),
        ({"Tags": [{"Key": "password", "Value": "s3cret"}]}, [], ["Tags.0.password"]),
        ({"Tags": {"token": "s3cret"}}, [], ["Tags.token"]),
        ({"MetadataOptions": {"HttpTokens": "required"}}, ["required"], []),
        ({"ServiceToken": "arn:aws:lambda:x"}, ["arn:aws:lambda:x"], []),
        ({"ServiceToken": {"Fn::ImportValue": "x"}}, ["Fn::ImportValue"], []),
        ({"Values": "{not json", "Name": "x"}, ["{not json"], []),
    ],
)
def test_it_is_hidden(values: dict[str, Any], left: list[str], places: list[str]) -> None:
    before = json.dumps(values)
    found, told = hidden(values)
    text = json.dumps(found)
    assert "s3cret" not in text
    assert (HIDDEN in text) == bool(places)
    assert all(each in text for each in left)
    assert told == places
    assert json.dumps(values) == before
    # What is deployed and what takes its place then compare as equal.
    assert hidden(found) == (found, [])

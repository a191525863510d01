"""What AWS says of a deployment, and how it is judged."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from kubernetes.client import ApiClient
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.inspect.verification.subjects.cluster import cluster
from hyperpod_cli.inspect.verification.subjects.eks.access_entries import access_entries
from hyperpod_cli.inspect.verification.subjects.eks.addons import addons
from hyperpod_cli.inspect.verification.subjects.eks.authentication import authentication
from hyperpod_cli.inspect.verification.subjects.eks.health import health
from hyperpod_cli.inspect.verification.subjects.eks.readiness import readiness
from hyperpod_cli.inspect.verification.subjects.eks.storage import storage
from hyperpod_cli.inspect.verification.subjects.gateways import gateways
from hyperpod_cli.inspect.verification.subjects.links import links
from hyperpod_cli.inspect.verification.subjects.notifications import notifications
from hyperpod_cli.inspect.verification.subjects.routes import routes
from hyperpod_cli.inspect.verification.subjects.scripts import scripts
from hyperpod_cli.inspect.verification.subjects.security_groups import security_groups
from hyperpod_cli.inspect.verification.verify import check_once, verify
from hyperpod_emulator.kubernetes import KubernetesApi
from tests.cli.inspect.verification.conftest import OUTPUTS, Deployed, paginated, report
from tests.support.configs import configure

POLICY = "AmazonEKSClusterAdminPolicy"
ADMIN = "arn:aws:iam::111122223333:role/Admin"
DENIED = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Op")
MISSING = ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": ""}}, "Op")


def raising(error: Exception) -> Callable[..., None]:
    def call(**_arguments: object) -> None:
        raise error

    return call


def sagemaker(status: str = "InService", *, running: int = 2) -> Mapping[str, Any]:
    nodes = [
        {
            "InstanceGroupName": f"worker-group-{index + 1}",
            "InstanceStatus": {"Status": "Running" if index < running else "Pending"},
        }
        for index in range(2)
    ]
    return {
        "describe_cluster": lambda **_name: {"ClusterStatus": status, "FailureMessage": "why"},
        "get_paginator": paginated(list_cluster_nodes=[{"ClusterNodeSummaries": nodes}]),
    }


@pytest.mark.parametrize(
    "answers",
    [sagemaker(), sagemaker("Failed"), sagemaker(running=1)],
    ids=["whole", "failed", "short"],
)
def test_cluster(
    deployed: Deployed, answers: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert report(cluster(deployed(configure({}), sagemaker=answers))) == snapshot


@pytest.mark.parametrize(
    ("arn", "told"),
    [("arn:aws:sns:1", ""), ("PendingConfirmation", "not confirmed: b@example.com")],
)
def test_notifications(deployed: Deployed, arn: str, told: str) -> None:
    emails = ["a@example.com", "b@example.com"]
    pages = [
        {"Subscriptions": [{"Endpoint": email, "SubscriptionArn": each}]}
        for email, each in zip(emails, ["arn:aws:sns:0", arn], strict=True)
    ]
    looked = deployed(
        configure({"observability": {"notifications": {"emails": emails}}}),
        outputs={"ml-observability": {"NotificationTopicArn": "arn:aws:sns:topic"}},
        sns={"get_paginator": paginated(list_subscriptions_by_topic=pages)},
    )
    assert [check.found for check in notifications(looked)] == [told]


@pytest.mark.parametrize(("mode", "told"), [("API", ""), ("CONFIG_MAP", "is CONFIG_MAP")])
def test_authentication(deployed: Deployed, mode: str, told: str) -> None:
    answer = {"cluster": {"accessConfig": {"authenticationMode": mode}}}
    eks = {"describe_cluster": lambda **_name: answer}
    assert [check.found for check in authentication(deployed(configure({}), eks=eks))] == [told]


NODES = {"nodes": "HYPERPOD_LINUX"}


@pytest.mark.parametrize(
    ("types", "associated", "told"),
    [
        (NODES, {"Admin": [[POLICY]]}, ["", ""]),
        # In pages, of which one may be empty.
        (NODES, {"Admin": [[], ["AmazonEKSViewPolicy"], [POLICY]]}, ["", ""]),
        (NODES, {"Admin": [["AmazonEKSViewPolicy"]]}, ["", f"lacks {POLICY}"]),
        ({"nodes": "STANDARD"}, {"Admin": [[POLICY]]}, ["is STANDARD", ""]),
        ({}, {}, ["there is none", f"lacks {POLICY}"]),
    ],
)
def test_access_entries(
    deployed: Deployed,
    types: dict[str, str],
    associated: dict[str, list[list[str]]],
    told: list[str],
) -> None:
    def described(*, principalArn: str, **_cluster: str) -> dict[str, Any]:
        name = principalArn.rpartition("/")[2]
        if name not in types:
            raise MISSING
        return {"accessEntry": {"type": types[name]}}

    def listed(*, principalArn: str, **_cluster: str) -> list[dict[str, Any]]:
        name = principalArn.rpartition("/")[2]
        if name not in associated:
            raise MISSING
        arn = "arn:aws:eks::aws:cluster-access-policy/"
        return [
            {"associatedAccessPolicies": [{"policyArn": f"{arn}{each}"} for each in page]}
            for page in associated[name]
        ]

    config = configure({"eks": {"admins": [ADMIN]}})
    eks = {
        "describe_access_entry": described,
        "get_paginator": lambda _operation: SimpleNamespace(paginate=listed),
        "exceptions": SimpleNamespace(ClientError=ClientError),
    }
    found = [*access_entries(deployed(config, eks=eks))]
    assert [check.found for check in found] == told
    assert found[0].title.endswith("role/nodes: HYPERPOD_LINUX")


@pytest.mark.parametrize(
    ("status", "health"), [("ACTIVE", {}), ("DEGRADED", {"issues": [{"message": "no nodes"}]})]
)
def test_addons(
    deployed: Deployed, status: str, health: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    addon = {"status": status, "addonVersion": "v1", "health": health}
    eks = {
        "get_paginator": paginated(list_addons=[{"addons": ["unpinned"]}]),
        "describe_addon": lambda **_name: {"addon": addon},
    }
    assert report(addons(deployed(configure({}), eks=eks))) == snapshot


ANYWHERE = {"DestinationCidrBlock": "0.0.0.0/0", "State": "active"}
NAT = {**ANYWHERE, "NatGatewayId": "nat-1"}
MAIN = {
    "RouteTableId": "rtb-0",
    "Associations": [{"Main": True}],
    "Routes": [{**NAT, "NatGatewayId": "nat-2"}],
}


@pytest.mark.parametrize(
    "own",
    [
        [NAT],
        [{**NAT, "State": "blackhole"}],
        [],
        # Which nodes' private addresses do not get through.
        [{**ANYWHERE, "GatewayId": "igw-1"}],
        [{**ANYWHERE, "GatewayId": "vpce-1"}],
    ],
    ids=["NAT gateway", "target is gone", "none", "internet gateway", "firewall"],
)
def test_routes(deployed: Deployed, own: list[dict[str, str]], snapshot: SnapshotAssertion) -> None:
    table = {"RouteTableId": "rtb-1", "Associations": [{"SubnetId": "subnet-1"}], "Routes": own}
    ec2 = {"get_paginator": paginated(describe_route_tables=[{"RouteTables": [table, MAIN]}])}
    looked = deployed(configure({}), ec2=ec2)
    assert report([*gateways(looked), *routes(looked)]) == snapshot


LINK = {"path": "/datasets", "s3_uri": "s3://sagemaker-datasets/all"}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([{"FileSystemPath": "/datasets", "Lifecycle": "AVAILABLE"}], ""),
        ([{"FileSystemPath": "/datasets", "Lifecycle": "MISCONFIGURED"}], "is MISCONFIGURED"),
        ([], "is not there"),
    ],
)
def test_links(deployed: Deployed, answer: list[dict[str, str]], told: str) -> None:
    fsx = {"describe_data_repository_associations": lambda **_ids: {"Associations": answer}}
    linked = configure({"storage": {"data_repositories": [LINK]}})
    assert [check.found for check in links(deployed(linked, fsx=fsx))] == [told]
    assert not [*links(deployed(configure({}), fsx=fsx))]


OWN = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1"}]}
OTHER = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-2"}]}
BLOCK = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


@pytest.mark.parametrize(
    ("ingress", "egress"),
    [
        ([OWN], [BLOCK, OWN]),
        ([OTHER], [OWN]),
        ([OWN], [BLOCK]),
        ([{**OWN, "IpProtocol": "tcp"}], []),
    ],
    ids=["both", "not from itself", "not to itself", "neither"],
)
def test_security_groups(
    deployed: Deployed,
    ingress: list[dict[str, Any]],
    egress: list[dict[str, Any]],
    snapshot: SnapshotAssertion,
) -> None:
    group = {"GroupId": "sg-1", "IpPermissions": ingress, "IpPermissionsEgress": egress}
    ec2 = {"describe_security_groups": lambda **_ids: {"SecurityGroups": [group]}}
    assert report(security_groups(deployed(configure({}), ec2=ec2))) == snapshot


@pytest.mark.parametrize(
    ("keys", "told"),
    [(["on_create.sh"], ""), ([], "is not there"), (["x/on_create.sh"], "is not there")],
)
def test_scripts(deployed: Deployed, keys: list[str], told: str) -> None:
    answer = {"Contents": [{"Key": key} for key in keys]} if keys else {}
    s3 = {"list_objects_v2": lambda **_asked: answer}
    assert [check.found for check in scripts(deployed(configure({}), s3=s3))] == [told]


def test_storage(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    looked = deployed(configure({}))
    assert [check.found for check in storage(looked)] == ["is not there"]
    kubernetes.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "fsx-pv"},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "capacity": {"storage": "1Gi"},
                "csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-2"},
            },
        }
    )
    claim = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        "volumeName": "fsx-pv",
    }
    kubernetes.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "fsx-claim", "namespace": "default"},
            "spec": claim,
        }
    )
    assert [check.found for check in storage(looked)] == ["", "is fs-2, not fs-1"]
    assert not [*storage(deployed(configure({"storage": None})))]


@pytest.mark.parametrize(
    "error",
    [DENIED, MISSING, EndpointConnectionError(endpoint_url="https://eks")],
    ids=["denied", "missing", "no connection"],
)
def test_what_aws_does_not_answer_is_not_known(
    deployed: Deployed, error: Exception, snapshot: SnapshotAssertion
) -> None:
    looked = deployed(configure({}), eks={"describe_cluster": raising(error)})
    subjects = {"authentication": authentication, "again": authentication}
    (check,) = verify(looked, subjects=subjects)
    assert (check.title, check.ok, check.is_known) == ("authentication, again", False, False)
    assert report([check]) == snapshot


@pytest.mark.parametrize("error", [DENIED, MISSING], ids=["denied", "missing"])
def test_without_the_eks_cluster_the_rest_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, error: Exception, snapshot: SnapshotAssertion
) -> None:
    services: dict[str, dict[str, Any]] = {
        "cloudformation": {"get_template": lambda **_asked: {"TemplateBody": {"Resources": {}}}},
        "eks": {"describe_cluster": raising(error)},
        "s3": {"list_objects_v2": lambda **_asked: {}},
    }
    monkeypatch.setattr(AwsSession, "client", lambda _, name: SimpleNamespace(**services[name]))
    subjects = {"health": health, "scripts": scripts, "readiness": readiness}
    some = partial(verify, subjects=subjects)
    monkeypatch.setattr("hyperpod_cli.inspect.verification.verify.verify", some)

    script, unknown = check_once(
        configure({}), session=AwsSession(region="us-west-2"), outputs=OUTPUTS
    )

    assert (script.found, script.is_known) == ("is not there", True)
    assert (unknown.title, unknown.is_known) == ("health, readiness", False)
    assert report([unknown]) == snapshot


def test_kubernetes_is_asked_once_if_it_is_not_reached(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    session = AwsSession(region="us-west-2")
    described = {"cluster": {"endpoint": "https://127.0.0.1:9"}}
    eks = {"describe_cluster": lambda **_name: described}
    monkeypatch.setattr(AwsSession, "client", lambda *_: SimpleNamespace(**eks))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    asked: list[object] = []
    call = ApiClient.call_api

    def counted(*given: object, **named: object) -> object:
        asked.append(given)
        return call(*given, **named)

    monkeypatch.setattr(ApiClient, "call_api", counted)
    with kubernetes_api(session, eks_cluster="ml-eks") as client:
        looked = replace(deployed(configure({})), kubernetes=client)
        (check,) = verify(looked, subjects={"health": health, "readiness": readiness})

    assert (check.title, check.is_known) == ("health, readiness", False)
    assert (check.found.partition(" (")[0], check.advice) == snapshot
    assert len(asked) == 1

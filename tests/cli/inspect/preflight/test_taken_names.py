"""Names that something else has, before the first deployment."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import boto3
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.preflight.run import results
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.nodes_stack import nodes_stack
from hyperpod_cli.inspect.preflight.validators.taken_names import taken_names
from hyperpod_emulator.hyperpod import Caller
from hyperpod_emulator.hyperpod.server import HyperPodApi
from hyperpod_emulator.testing.hyperpod_api import create_request, eks, group
from hyperpod_shared.owner import STACK_TAG
from tests.cli.inspect.preflight.conftest import ACCOUNT, REGION
from tests.support.configs import configure
from tests.support.provisioner.fake_s3 import client_error

BUCKET, ROLE = "sagemaker-taken", "Taken"
TRUST = {"Version": "2012-10-17", "Statement": []}


@pytest.fixture(scope="module")
def hyperpod() -> Iterator[HyperPodApi]:
    """Answer for HyperPod: `ml-cluster` is the deployment's, `foreign` is not."""
    caller = Caller(account=ACCOUNT, region=REGION)
    with HyperPodApi() as api:
        for name, stack in (("ml-cluster", "ml-hyperpod"), ("foreign", "other-hyperpod")):
            tags = [{"Key": STACK_TAG, "Value": _stack_id(stack)}]
            request = create_request(group(), ClusterName=name, Orchestrator=eks(name), Tags=tags)
            api.service.call("CreateCluster", request, caller)
        yield api


def _stack_id(name: str) -> str:
    return f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{name}/1234"


@pytest.fixture(scope="module", autouse=True)
def _taken(target: Target) -> None:
    where = {"LocationConstraint": target.region}
    target.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=where)
    iam = target.client("iam")
    iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=json.dumps(TRUST))
    left = f"sagemaker-left-{target.account}-{target.region}"
    target.client("s3").create_bucket(Bucket=left, CreateBucketConfiguration=where)


def lines(target: Target, changes: dict[str, Any]) -> list[str]:
    return [str(finding) for finding, _ in taken_names(configure(changes), target)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"encryption": {"create_kms_key": True}},
        {"eks": {"cluster_name": "free"}},
        {"lifecycle_scripts": {"bucket_name": "sagemaker-free"}},
        {"cluster": {"execution_role_name": "Free"}},
    ],
)
def test_free_names_pass(target: Target, changes: dict[str, Any]) -> None:
    assert lines(target, changes) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"cluster": {"name": "foreign"}},
        # A copy of a file that names its cluster.
        {"name": "ml2", "cluster": {"name": "ml-cluster"}},
    ],
)
def test_taken_names_are_told(
    target: Target, changes: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert lines(target, changes) == snapshot


@pytest.mark.parametrize(
    ("service", "changes", "missing"),
    [
        ("s3", {"name": "left"}, "s3:ListBucket (or the bucket is another account's)"),
        (
            "s3",
            {"lifecycle_scripts": {"bucket_name": BUCKET}},
            "s3:ListBucket (or the bucket is another account's)",
        ),
        ("kms", {"encryption": {"create_kms_key": True}}, "kms:DescribeKey"),
    ],
)
def test_who_may_not_look_at_one_is_told_and_of_the_others(
    target: Target, service: str, changes: dict[str, Any], missing: str
) -> None:
    iam, user = target.client("iam"), f"nobody-{uuid4().hex[:8]}"
    iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    make: Any = boto3.client
    client = make(
        service,
        target.region,
        endpoint_url=iam.meta.endpoint_url,
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
    )
    denied = replace(target, client=lambda name: client if name == service else target.client(name))
    config = configure({"cluster": {"execution_role_name": ROLE}, **changes})
    (outcome,) = results(config, denied, validators={"names": taken_names})
    (problem,) = outcome.problems
    assert str(problem[0]).startswith("cluster.execution_role_name: 'Taken' is taken")
    assert outcome.missing_permission == missing


def test_what_is_deployed_has_its_names(target: Target) -> None:
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    cloudformation = target.client("cloudformation")
    cloudformation.create_stack(StackName="taken-platform", TemplateBody=json.dumps(template))
    assert lines(target, {"name": "taken"}) == []
    # The stack of the HyperPod cluster may come later.
    (line,) = lines(target, {"name": "taken", "cluster": {"name": "foreign"}})
    assert line.startswith("cluster.name: 'foreign' is taken")
    cloudformation.delete_stack(StackName="taken-platform")


_GROUPS = [{"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}]
_RELEASE, _GROUP = "Custom::HelmRelease", "AWS::EKS::Nodegroup"
_HYPERPOD, _NODE_GROUPS = "ml-hyperpod", "ml-node-groups"


def _having(stacks: Mapping[str, Iterable[str]]) -> Target:
    """Return a place whose CloudFormation has stacks with resources of some types."""

    def paginate(*, StackName: str) -> list[dict[str, Any]]:
        if StackName not in stacks:
            told = f"Stack with id {StackName} does not exist"
            raise client_error("ValidationError", "ListStackResources", told)
        made = [
            {
                "LogicalResourceId": each,
                "PhysicalResourceId": each,
                "ResourceType": each,
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for each in stacks[StackName]
        ]
        return [{"StackResourceSummaries": made}]

    client = Mock(**{"get_paginator.return_value.paginate": paginate})
    return Target(partition="aws", account=ACCOUNT, region=REGION, client=lambda _: client)


@pytest.mark.parametrize(
    ("changes", "stacks"),
    [
        pytest.param({}, {_NODE_GROUPS: [_GROUP, _RELEASE]}, id="comes"),
        pytest.param({}, {_NODE_GROUPS: [_GROUP]}, id="comes, the releases are gone"),
        pytest.param({}, {}, id="comes first"),
        pytest.param({}, {_HYPERPOD: [_RELEASE], _NODE_GROUPS: [_GROUP]}, id="is next to them"),
        pytest.param({"cluster": None}, {_NODE_GROUPS: [_RELEASE]}, id="never was"),
    ],
)
def test_the_helm_releases_are_in_one_stack(
    changes: Mapping[str, Any], stacks: Mapping[str, Iterable[str]], snapshot: SnapshotAssertion
) -> None:
    config = configure({"node_groups": _GROUPS, **changes})

    assert [str(finding) for finding, _ in nodes_stack(config, _having(stacks))] == snapshot

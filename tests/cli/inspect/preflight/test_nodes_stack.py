"""A HyperPod cluster that comes or goes while a stack of nodes has the Helm releases."""

from collections.abc import Iterable, Mapping
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.nodes_stack import nodes_stack
from tests.support.configs import configure

_GROUPS = [{"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}]
_RELEASE, _GROUP = "Custom::HelmRelease", "AWS::EKS::Nodegroup"
_HYPERPOD, _NODE_GROUPS = "ml-hyperpod", "ml-node-groups"
_TAKES_OVER = (
    "cluster.name: 'ml-cluster' takes the Helm releases over from the stack ml-node-groups: deploy "
    "that alone first, with ONLY=ml-node-groups"
)


def _client(stacks: Mapping[str, Iterable[str]], *, asked: Iterable[str]) -> Any:  # noqa: ANN401
    client = boto3.client(
        "cloudformation",
        "us-west-2",
        aws_access_key_id="a",
        aws_secret_access_key="b",  # noqa: S106
    )
    stubber = Stubber(client)
    for name in asked:
        if name not in stacks:
            stubber.add_client_error(
                "list_stack_resources", "ValidationError", f"Stack with id {name} does not exist"
            )
            continue
        listed = [
            {
                "LogicalResourceId": type_,
                "PhysicalResourceId": type_,
                "ResourceType": type_,
                "LastUpdatedTimestamp": "2026-01-01T00:00:00Z",
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for type_ in stacks[name]
        ]
        summary = {"StackResourceSummaries": listed}
        stubber.add_response("list_stack_resources", summary, {"StackName": name})
    stubber.activate()
    return client


@pytest.mark.parametrize(
    ("changes", "stacks", "expected"),
    [
        pytest.param({}, {_NODE_GROUPS: [_GROUP, _RELEASE]}, _TAKES_OVER, id="comes"),
        pytest.param({}, {_NODE_GROUPS: [_GROUP]}, "", id="comes, the releases are gone"),
        pytest.param({}, {}, "", id="comes first"),
        pytest.param(
            {}, {_HYPERPOD: [_RELEASE], _NODE_GROUPS: [_GROUP]}, "", id="is next to node groups"
        ),
        pytest.param(
            {"cluster": None},
            {_HYPERPOD: [_RELEASE], _NODE_GROUPS: [_GROUP]},
            "cluster: null leaves the stack ml-hyperpod without what it takes",
            id="goes",
        ),
        pytest.param({"cluster": None}, {_NODE_GROUPS: [_RELEASE]}, "", id="never was"),
    ],
)
def test_the_helm_releases_are_in_one_stack(
    *, changes: Mapping[str, Any], stacks: Mapping[str, Iterable[str]], expected: str
) -> None:
    client = _client(stacks, asked=[_HYPERPOD, _NODE_GROUPS])
    target = Target(
        partition="aws",
        account="111122223333",
        region="us-west-2",
        client=lambda _: client,
    )
    config = configure({"node_groups": _GROUPS, **changes})

    found = [str(finding) for finding, _ in nodes_stack(config, target)]

    assert len(found) == bool(expected)
    assert all(line.startswith(expected) for line in found)

"""What a stack has."""

from types import SimpleNamespace

import pytest

from hyperpod_cli.inspect.preflight.deployed import resources_of

_VPC, _SUBNET = "AWS::EC2::VPC", "AWS::EC2::Subnet"


def summary(name: str, resource_type: str, status: str = "CREATE_COMPLETE") -> dict[str, str]:
    identifier = {"PhysicalResourceId": name} if name else {}
    return {**identifier, "ResourceType": resource_type, "ResourceStatus": status}


@pytest.mark.parametrize(
    ("resource_type", "names"), [(None, {"vpc-1", "subnet-1"}), (_SUBNET, {"subnet-1"})]
)
def test_what_was_deleted_or_never_created_is_not_there(
    resource_type: str | None, names: set[str]
) -> None:
    pages = [
        {"StackResourceSummaries": [summary("vpc-1", _VPC)]},
        {
            "StackResourceSummaries": [
                summary("subnet-1", _SUBNET, "DELETE_FAILED"),
                summary("subnet-2", _SUBNET, "DELETE_COMPLETE"),
                summary("", _SUBNET, "CREATE_FAILED"),
            ]
        },
    ]
    paginator = SimpleNamespace(paginate=lambda **_stack: pages)
    target = SimpleNamespace(
        client=lambda _name: SimpleNamespace(get_paginator=lambda _: paginator)
    )
    assert resources_of("ml-platform", target, resource_type=resource_type) == names

"""The wait for a file system as CloudFormation sees it."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk import FileSystemAvailability, Lustre, Provisioner, StorageConfig
from tests.constructs.conftest import View

AVAILABILITY = "Custom::FileSystemAvailability"


@pytest.fixture
def lustre(
    stack: cdk.Stack,
    vpc: ec2.IVpc,
    subnets: list[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
) -> Lustre:
    """Return a file system."""
    place: dict[str, Any] = {"vpc": vpc, "subnet": subnets[0], "security_group": security_group}
    return Lustre(stack, "Lustre", **place, storage=StorageConfig())


def test_names_come_from_the_wait_and_the_wait_has_its_right(
    stack: cdk.Stack, lustre: Lustre, provisioner: Provisioner, view: View
) -> None:
    mount = FileSystemAvailability(
        stack, "Availability", file_system_id=lustre.file_system_id, provisioner=provisioner
    )
    names = stack.resolve([mount.dns_name, mount.mount_name])

    seen = view()
    waits = seen.id(AVAILABILITY)
    right = seen.statement("DescribeFileSystem")

    assert seen.one(AVAILABILITY)["FileSystemId"] == {"Ref": seen.id("AWS::FSx::FileSystem")}
    assert names == [{"Fn::GetAtt": [waits, "DnsName"]}, {"Fn::GetAtt": [waits, "MountName"]}]
    assert (right["Action"], right["Resource"]) == ("fsx:DescribeFileSystems", "*")
    assert any(
        seen.resources[name]["Type"] == "AWS::IAM::Policy" for name in seen.dependencies(waits)
    )

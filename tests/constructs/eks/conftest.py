"""What surrounds a control plane."""

from typing import Any

import pytest
from aws_cdk import aws_ec2 as ec2


@pytest.fixture
def surroundings(
    vpc: ec2.IVpc, subnets: list[ec2.ISubnet], security_group: ec2.ISecurityGroup
) -> dict[str, Any]:
    """Return the arguments but for the section."""
    return {
        "cluster_name": "ml-eks",
        "vpc": vpc,
        "subnets": subnets,
        "security_group": security_group,
    }

"""A control plane with what surrounds it."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk import EksCluster, EksConfig

Make = Callable[..., EksCluster]


@pytest.fixture
def make(
    stack: cdk.Stack,
    vpc: ec2.IVpc,
    subnets: list[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
) -> Make:
    """Return a function that makes a control plane of a section, in the stack or in another."""

    def made(*, within: cdk.Stack = stack, **section: Any) -> EksCluster:
        return EksCluster(
            within,
            "Eks",
            cluster_name="ml-eks",
            eks=EksConfig(**section),
            vpc=vpc,
            subnets=subnets,
            security_group=security_group,
        )

    return made

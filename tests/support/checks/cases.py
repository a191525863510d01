"""Deployments for the checks, and what a rule is to find in them."""

from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.checks import Deployment, Group, Severity, Subnet
from hyperpod_cdk.checks.rules import Rule

ERROR, WARNING = Severity.ERROR, Severity.WARNING
GPU, GPU_WITHOUT_EFA, CPU = "ml.p5.48xlarge", "ml.g5.xlarge", "ml.m5.2xlarge"
TRAINIUM, UNDESCRIBED = "ml.trn2.48xlarge", "ml.p6e-gb200.36xlarge"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"

Expected = tuple[Severity, str, str]
"""Severity, key path, part of the message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One row of a rule's table; nothing expected makes it a passing one."""

    rule: Rule
    title: str
    deployment: Deployment
    expected: tuple[Expected, ...] = ()


def group(instance_type: str | None = CPU, *, index: int = 0, **changes: Any) -> Group:
    """Return one group; its name goes by its position."""
    return Group(
        path=("cluster", "instance_groups", index),
        name=f"group-{index}",
        instance_type=instance_type,
        **changes,
    )


def subnets(*blocks: str | tuple[str, str]) -> tuple[Subnet, ...]:
    """Return HyperPod subnets; each is a CIDR block in usw2-az1, or a block with its zone."""
    pairs = [(block, "usw2-az1") if isinstance(block, str) else block for block in blocks]
    return tuple(
        Subnet(
            path=("network", "hyperpod_subnets", index, "cidr"),
            cidr=cidr,
            zone=zone,
            availability_zone_id=zone if "-az" in zone else None,
        )
        for index, (cidr, zone) in enumerate(pairs)
    )


ONE_ZONE = subnets("10.1.0.0/16")
TWO_ZONES = subnets("10.1.0.0/17", ("10.1.128.0/17", "usw2-az2"))
BY_NAME = subnets(("10.1.0.0/16", "the region's zone 1 by name"))


def deployment(*groups: Group, **changes: Any) -> Deployment:
    """Return a deployment of these groups; an ordinary one where `changes` say nothing."""
    values: dict[str, Any] = {"hyperpod_subnets": ONE_ZONE, "region": "us-west-2"}
    return Deployment(groups=groups, **(values | changes))


def one(rule: Rule, title: str, case: Deployment, *expected: Expected) -> Case:
    """Return one row."""
    return Case(rule=rule, title=title, deployment=case, expected=expected)


def in_group(severity: Severity, key: str, message: str, *, index: int = 0) -> Expected:
    """Expect a finding at a key of one group."""
    return severity, f"cluster.instance_groups[{index}].{key}", message

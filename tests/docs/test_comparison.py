"""docs/comparison.md: its table of what is reused names the keys that there are, and no other.

To write them: `python -m tests.docs.test_comparison`.
"""

import re
from collections.abc import Mapping, Sequence

import pytest

from tests.support.configs import REPOSITORY
from tools.generate.config_reference import keys

FILE = REPOSITORY / "docs" / "comparison.md"
HEADING = "## What each one reuses"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|", re.MULTILINE)

NAMED_BY: Mapping[str, Sequence[str]] = {
    "VPC": ("network.vpc_id",),
    "subnets of the nodes": (
        "network.hyperpod_subnets[].subnet_id",
        "cluster.instance_groups[].override_vpc.subnet_ids",
    ),
    "subnets of the control plane": ("network.eks_subnet_ids",),
    "route tables": ("network.hyperpod_subnets[].route_table_id",),
    "NAT gateways": ("network.nat_gateway_ids",),
    "internet gateway": ("network.internet_gateway_id",),
    "security group": (
        "network.security_group_id",
        "cluster.instance_groups[].override_vpc.security_group_ids",
    ),
    "EKS cluster": ("eks.cluster_arn",),
    "bucket of the lifecycle scripts": ("lifecycle_scripts.existing_bucket_name",),
    "lifecycle scripts": ("cluster.instance_groups[].lifecycle.source_s3_uri",),
    "role of the nodes": (
        "cluster.execution_role_arn",
        "cluster.instance_groups[].execution_role_arn",
    ),
    "role of autoscaling": ("cluster.role_arn",),
    "FSx for Lustre": ("storage.file_system_id",),
    "KMS keys": (
        "encryption.kms_key_arn",
        "eks.secrets_kms_key_arn",
        "cluster.instance_groups[].ebs_volumes[].kms_key_id",
    ),
    "training plan": ("cluster.instance_groups[].training_plan_arn",),
}
"""By row, the keys that name a resource of the user's, if the configuration has them."""


def cells() -> dict[str, str]:
    """Return this project's cell of each row."""
    return dict(ROW.findall(FILE.read_text("utf-8").partition(HEADING)[2]))


def cell(resource: str) -> str:
    """Return what this project's cell of a row must be."""
    return ", ".join(f"`{key}`" for key in NAMED_BY[resource] if key in keys()) or "no"


@pytest.mark.parametrize("resource", NAMED_BY)
def test_a_row_names_the_keys_that_there_are(resource: str) -> None:
    assert cells()[resource] == cell(resource), "run `python -m tests.docs.test_comparison`"


def test_each_row_is_looked_at() -> None:
    assert [*NAMED_BY] == [name for name in cells() if name not in ("resource", "---")]


if __name__ == "__main__":
    before, _, table = FILE.read_text("utf-8").partition(HEADING)
    for name in NAMED_BY:
        table = re.sub(rf"^\| {name} \| [^|]+ \|", f"| {name} | {cell(name)} |", table, flags=re.M)
    FILE.write_text(f"{before}{HEADING}{table}", encoding="utf-8")

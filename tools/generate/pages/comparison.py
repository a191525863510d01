"""Write the keys that name what exists into the table of docs/comparison.md."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.generate import REPOSITORY
from tools.generate.pages.config_reference import keys

_PAGE = REPOSITORY / "docs" / "comparison.md"
_HEADING = "## What each one reuses"
_ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \|", re.MULTILINE)
_HEADS = ("resource", "---")

_NAMED_BY: Mapping[str, Sequence[str]] = {
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


def render() -> Mapping[Path, str]:
    """Return the page with this project's cell of each row, which must be there and known."""
    known = keys()

    def row(found: re.Match[str]) -> str:
        name = found[1]
        if name in _HEADS:
            return found[0]
        named = ", ".join(f"`{key}`" for key in _NAMED_BY[name] if key in known)
        return f"| {name} | {named or 'no'} |"

    before, heading, table = _PAGE.read_text("utf-8").partition(_HEADING)
    missing = _NAMED_BY.keys() - {*_ROW.findall(table)}
    if missing:
        raise ValueError(f"{_PAGE}: no row of {', '.join(sorted(missing))}")
    return {_PAGE: f"{before}{heading}{_ROW.sub(row, table)}"}

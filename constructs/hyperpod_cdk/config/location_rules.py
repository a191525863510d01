"""What of the HyperPod cluster is in another place than the deployment: its zones and ARNs."""

from collections.abc import Iterator, Sequence

from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.arns import arn_findings
from hyperpod_cdk.schema.availability_zones import foreign_zone_findings
from hyperpod_cdk.schema.errors import Finding, KeyPath


def location_findings(
    cluster: ClusterConfig, *, zones: Sequence[str | None] | None, region: str | None
) -> Iterator[Finding]:
    """Find zones and ARNs in the cluster that are not of the deployment's network or region.

    Args:
        cluster: The cluster.
        zones: Zone IDs of the HyperPod subnets, None in place of one known by name only; None
            when the network is itself refused.
        region: The configured region, if any.
    """
    for finding in arn_findings(cluster.role_arn, region=region):
        yield finding.under("role_arn")
    lists: dict[str, Sequence[NodeGroupConfig]] = {
        "instance_groups": cluster.instance_groups,
        "restricted_instance_groups": cluster.restricted_instance_groups,
    }
    for key, groups in lists.items():
        for index, group in enumerate(groups):
            for finding in _group_findings(group, zones=zones, region=region):
                yield finding.under(key, index)


def _group_findings(
    group: NodeGroupConfig, *, zones: Sequence[str | None] | None, region: str | None
) -> Iterator[Finding]:
    arns: list[tuple[KeyPath, str | None]] = [
        (("execution_role_arn",), group.execution_role_arn),
        (("training_plan_arn",), group.training_plan_arn),
        *(
            (("ebs_volumes", index, "kms_key_id"), volume.kms_key_id)
            for index, volume in enumerate(group.ebs_volumes)
        ),
    ]
    for path, arn in arns:
        for finding in arn_findings(arn, region=region):
            yield finding.under(*path)
    zone = group.availability_zone_id
    if zone is not None and zones is not None:
        yield from foreign_zone_findings(zone, zones=zones, why="; or add a subnet there")

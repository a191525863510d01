"""Rules between the HyperPod cluster and the rest of the deployment."""

from collections.abc import Iterator, Sequence

from hyperpod_cdk.config.arns import arn_faults
from hyperpod_cdk.config.availability_zones import foreign_zone_faults
from hyperpod_cdk.config.cluster import ClusterConfig
from hyperpod_cdk.config.faults import Fault, Path
from hyperpod_cdk.config.node_group import NodeGroupConfig


def deployment_faults(
    cluster: ClusterConfig, *, zones: Sequence[str | None] | None, region: str | None
) -> Iterator[Fault]:
    """Find what in the cluster contradicts the deployment's network or region.

    Args:
        cluster: The cluster.
        zones: Zone IDs of the HyperPod subnets, None in place of one known by name only; None
            when the network is itself at fault.
        region: The configured region, if any.
    """
    for fault in arn_faults(cluster.role_arn, region=region):
        yield fault.under("role_arn")
    lists: dict[str, Sequence[NodeGroupConfig]] = {
        "instance_groups": cluster.instance_groups,
        "restricted_instance_groups": cluster.restricted_instance_groups,
    }
    for key, groups in lists.items():
        for index, group in enumerate(groups):
            for fault in _group_faults(group, zones=zones, region=region):
                yield fault.under(key, index)


def _group_faults(
    group: NodeGroupConfig, *, zones: Sequence[str | None] | None, region: str | None
) -> Iterator[Fault]:
    arns: list[tuple[Path, str | None]] = [
        (("execution_role_arn",), group.execution_role_arn),
        (("training_plan_arn",), group.training_plan_arn),
        *(
            (("ebs_volumes", index, "kms_key_id"), volume.kms_key_id)
            for index, volume in enumerate(group.ebs_volumes)
        ),
    ]
    for path, arn in arns:
        for fault in arn_faults(arn, region=region):
            yield fault.under(*path)
    zone = group.availability_zone_id
    if zone is not None and zones is not None:
        yield from foreign_zone_faults(zone, zones=zones, why="; or add a subnet there")

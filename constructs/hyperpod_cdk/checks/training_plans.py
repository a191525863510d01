"""Groups on a training plan are where the plan is."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.placement import subnets_for, zones_for
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import Finding, Path, error, warning


def training_plans(config: Config) -> Iterator[Finding]:
    """Find groups on a training plan that are in no certain zone.

    A plan's capacity is in one zone. A group elsewhere gets none of it, and both are paid for.

    https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    """
    for where, group in config.cluster.groups_with_paths():
        if group.training_plan_arn is not None:
            yield from _zone_findings(group, where=where, network=config.network)


def _zone_findings(
    group: NodeGroupConfig, *, where: Path, network: NetworkConfig
) -> Iterator[Finding]:
    path = (*where, "availability_zone_id")
    zones = zones_for(group, network)
    if group.override_vpc is not None:
        yield warning(
            (*where, "override_vpc", "subnet_ids"),
            f"{len(group.override_vpc.subnet_ids)} subnets",
            "must be in the training plan's zone, or the plan is not used",
        )
    elif len(zones) > 1:
        yield error(
            path, None, f"must name the training plan's zone: the subnets are in {', '.join(zones)}"
        )
    elif any(subnet.availability_zone_id is None for subnet in subnets_for(group, network)):
        yield warning(
            path,
            None,
            "leaves the zone to its place in the account's list; name it by ID here and in "
            "network.availability_zone_ids, so that it is the training plan's",
        )

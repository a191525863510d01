"""Groups on a training plan are where the plan is."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import Findings, KeyPath, error, warning


def training_plans(config: Config) -> Findings:
    """Find groups on a training plan that are in no certain zone.

    A plan's capacity is in one zone. A group elsewhere gets none of it, and both are paid for.

    https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    """
    for where, group in config.cluster.groups_with_paths():
        if group.training_plan_arn is not None:
            yield from _zone_findings(group, where=where, network=config.network)


def _zone_findings(group: NodeGroupConfig, *, where: KeyPath, network: NetworkConfig) -> Findings:
    subnet = subnet_for(group, network)
    if group.override_vpc is not None:
        yield warning(
            (*where, "override_vpc", "subnet_ids"),
            f"{len(group.override_vpc.subnet_ids)} subnets",
            "must be in the training plan's zone, or the plan is not used",
        )
    elif group.availability_zone_id is None and len(network.hyperpod_subnets) > 1:
        zones = ", ".join(dict.fromkeys(zone for zone in network.hyperpod_zone_ids if zone))
        yield error(
            (*where, "availability_zone_id"),
            None,
            f"must name the training plan's zone: the subnets are in {zones or 'several zones'}",
        )
    elif subnet is not None and subnet.availability_zone_id is None:
        yield warning(
            (*where, "availability_zone_id"),
            None,
            "puts the group into the region's first zone by name, which differs between accounts; "
            "name the training plan's zone by ID here and in network.availability_zone_ids",
        )

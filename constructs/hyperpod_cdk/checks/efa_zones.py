"""EFA stays within one availability zone."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.placement import zones_for
from hyperpod_cdk.schema.errors import Finding, error, warning


def efa_zones(config: Config) -> Iterator[Finding]:
    """Find groups with EFA accelerators in no certain zone, or in another than their peers.

    EFA traffic crosses no zone: nodes spread over zones fail their connectivity checks and are
    replaced without end. Without a zone, HyperPod chooses one for the group.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    first: tuple[str, str] | None = None
    for where, group in config.cluster.groups_with_paths():
        if not group.has_efa_accelerators:
            continue
        own = group.override_vpc
        if own is not None and len(own.subnet_ids) > 1:
            yield warning(
                (*where, "override_vpc", "subnet_ids"),
                f"{len(own.subnet_ids)} subnets",
                f"must be in one zone for {group.name}: EFA does not work between zones",
            )
        zones = zones_for(group, config.network)
        if not zones:
            continue
        path = (*where, "availability_zone_id")
        if len(zones) > 1:
            found = error if group.instance_count > 1 else warning
            yield found(
                path,
                None,
                f"must name the zone of {group.name}: the HyperPod subnets are in "
                f"{', '.join(zones)}, and EFA does not work between zones",
            )
        elif first is None:
            first = zones[0], group.name
        elif zones[0] != first[0]:
            yield warning(
                path,
                group.availability_zone_id,
                f"puts {group.name} into {zones[0]}, apart from {first[1]} in {first[0]}: EFA does "
                "not work between zones, so a job must stay within the groups of one",
            )

"""EFA stays within one availability zone."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.errors import Finding, warning


def efa_zones(config: Config) -> Iterator[Finding]:
    """Find groups with EFA accelerators in several zones, or in another zone than their peers.

    EFA traffic crosses no zone: nodes spread over zones fail their connectivity checks and are
    replaced without end.

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
        subnet = subnet_for(group, config.network)
        if subnet is None:
            continue
        if first is None:
            first = subnet.zone, group.name
        elif subnet.zone != first[0]:
            yield warning(
                (*where, "availability_zone_id"),
                group.availability_zone_id,
                f"puts {group.name} into {subnet.zone}, apart from {first[1]} in {first[0]}: EFA "
                "does not work between zones, so a job must stay within the groups of one",
            )

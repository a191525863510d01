"""A node group in a reservation says which zone that is in."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def reservation_zone(config: Config) -> Findings:
    """Find groups in a reservation whose zone is left to the order of the subnets.

    Instances launch into a reservation in its own zone alone; elsewhere none is launched.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html
    """
    if len(config.network.hyperpod_subnets) < 2:  # noqa: PLR2004 - there is no choice
        return
    for index, group in enumerate(config.node_groups):
        if group.capacity_reservation_id is not None and group.availability_zone_id is None:
            yield warning(
                ("node_groups", index, "availability_zone_id"),
                None,
                f"is missing: {group.name} runs in {group.capacity_reservation_id} alone, so name "
                "the zone that it is in; preflight looks at AWS",
            )

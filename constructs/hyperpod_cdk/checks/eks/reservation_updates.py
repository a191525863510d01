"""An update of a node group in a reservation finds capacity there."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK
from hyperpod_cdk.schema.errors import Findings, warning


def reservation_updates(config: Config) -> Findings:
    """Find groups that run in one reservation alone, and whose updates add nodes by default.

    Of a resource group, what its reservations do not hold runs outside them; a Capacity Block is
    updated without nodes.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
    """
    for index, group in enumerate(config.node_groups):
        if (
            group.capacity_reservation_id is not None
            and group.capacity != CAPACITY_BLOCK
            and group.update_strategy is None
            and group.stated_update_strategy == "DEFAULT"
        ):
            yield warning(
                ("node_groups", index, "update_strategy"),
                None,
                f"is missing: nodes are added before others end when {group.name} is updated, "
                f"which fails while {group.capacity_reservation_id} is full; write MINIMAL, which "
                "ends them first, or DEFAULT if it has instances to spare",
            )

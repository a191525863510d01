"""Spot Instances find room."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.node_groups.section import SPOT
from hyperpod_cdk.schema.errors import Findings, warning


def spot_placement(config: Config) -> Findings:
    """Find Spot groups that leave EC2 little choice: one placement group, or one type.

    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html#managed-node-group-capacity-types
    """
    for index, group in enumerate(config.node_groups):
        if group.capacity != SPOT:
            continue
        if group.is_clustered:
            yield warning(
                ("node_groups", index, "placement_group"),
                group.placement_group,
                f"puts the Spot Instances of {group.name} next to each other, for which there is "
                "seldom capacity; set placement_group: false, or another capacity",
            )
        elif len(group.instance_types) == 1:
            yield warning(
                ("node_groups", index, "instance_types"),
                list(group.instance_types),
                f"is the only type of {group.name}, and Spot; list more, so that EC2 can choose",
            )

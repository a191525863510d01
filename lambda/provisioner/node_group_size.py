"""`Custom::NodeGroupSize`: how many nodes a node group has that something else scales.

| request        | on_event | is_complete                                                         |
|----------------|----------|---------------------------------------------------------------------|
| Create, Update | nothing  | the group's size, within its limits; without a group the wanted one |
| Delete         | nothing  | at once                                                             |

A template says a size, and an update with it would end nodes that the Cluster Autoscaler has added:
https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from hyperpod_shared.aws_errors import AwsClient, or_none
from provisioner.framework.properties import Properties, json_object, parsed, text
from provisioner.framework.resource import Progress, WaitingResource
from provisioner.framework.retry import Answer, Clock, aws_retried
from provisioner.framework.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupSizeProperties(Properties):
    """The properties that the CDK app sets; `scaling` is as `ScalingConfig` has it."""

    PHYSICAL_ID = "{0.cluster_name}/{0.node_group_name}/size"

    cluster_name: str = parsed(text)
    node_group_name: str = parsed(text)
    scaling: Mapping[str, int] = parsed(json_object)


@dataclass(frozen=True, kw_only=True)
class NodeGroupSize(WaitingResource[NodeGroupSizeProperties]):
    """Handles `Custom::NodeGroupSize`."""

    properties_type = NodeGroupSizeProperties
    eks: AwsClient

    def progress(self, properties: NodeGroupSizeProperties, turn: Turn) -> Progress:
        """Return the size that an update leaves as it is."""
        size = decide(self._describe(properties, turn.clock), scaling=properties.scaling)
        return Progress(complete=True, data={"DesiredSize": str(size)})

    def _describe(self, properties: NodeGroupSizeProperties, clock: Clock) -> Answer | None:
        name, group = properties.cluster_name, properties.node_group_name
        describe = partial(self.eks.describe_nodegroup, clusterName=name, nodegroupName=group)
        found = or_none(lambda: aws_retried(describe, clock=clock))
        return found and found["nodegroup"]


def decide(found: Answer | None, *, scaling: Mapping[str, int]) -> int:
    """Return the size that a node group is to have; None is a group that does not exist."""
    if found is None:
        return scaling["DesiredSize"]
    present = int(found["scalingConfig"]["desiredSize"])
    return min(max(present, scaling["MinSize"]), scaling["MaxSize"])

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

from hyperpod_shared.aws_errors import AWS_ERRORS, is_not_found
from provisioner.aws.api import EksNodeGroupApi
from provisioner.framework.properties import Properties, json_object, parsed, text
from provisioner.framework.resource import Progress, WaitingResource
from provisioner.framework.retry import Answer, Clock, aws_retried
from provisioner.framework.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupSizeProperties(Properties):
    """The properties that the CDK app sets.

    Attributes:
        cluster_name: The EKS cluster.
        node_group_name: The node group.
        scaling: Its least, greatest and wanted size, as `ScalingConfig` has them.
    """

    cluster_name: str = parsed(text)
    node_group_name: str = parsed(text)
    scaling: Mapping[str, int] = parsed(json_object)

    @property
    def physical_id(self) -> str:
        """The resource's id."""
        return f"{self.cluster_name}/{self.node_group_name}/size"


class NodeGroupSize(WaitingResource[NodeGroupSizeProperties]):
    """Handles `Custom::NodeGroupSize`.

    Args:
        eks: Describes node groups.
    """

    properties_type = NodeGroupSizeProperties

    def __init__(self, *, eks: EksNodeGroupApi) -> None:
        self._eks = eks

    def progress(self, properties: NodeGroupSizeProperties, turn: Turn) -> Progress:
        """Return the size that an update leaves as it is."""
        size = decide(self._describe(properties, turn.clock), scaling=properties.scaling)
        return Progress(complete=True, data={"DesiredSize": str(size)})

    def _describe(self, properties: NodeGroupSizeProperties, clock: Clock) -> Answer | None:
        name, group = properties.cluster_name, properties.node_group_name
        try:
            found = aws_retried(
                lambda: self._eks.describe_nodegroup(clusterName=name, nodegroupName=group),
                clock=clock,
            )
        except AWS_ERRORS as error:
            if is_not_found(error):
                return None
            raise
        answer: Answer = found["nodegroup"]
        return answer


def decide(found: Answer | None, *, scaling: Mapping[str, int]) -> int:
    """Return the size that a node group is to have.

    Args:
        found: The group; None if there is none.
        scaling: Its least, greatest and wanted size.
    """
    if found is None:
        return scaling["DesiredSize"]
    present = int(found["scalingConfig"]["desiredSize"])
    return min(max(present, scaling["MinSize"]), scaling["MaxSize"])

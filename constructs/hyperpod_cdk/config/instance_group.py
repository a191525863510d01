"""The `cluster.instance_groups` list."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field

from hyperpod_cdk.config.faults import Fault
from hyperpod_cdk.config.group_types import SeveralTypesConfig
from hyperpod_cdk.config.kubernetes import Labels, TaintConfig
from hyperpod_cdk.config.lifecycle import LifecycleConfig
from hyperpod_cdk.config.limits import ApiLimits, OneOf
from hyperpod_cdk.config.lists import ListLimits
from hyperpod_cdk.config.node_group import InstanceCount, NodeGroupConfig
from hyperpod_cdk.config.section import Listed
from hyperpod_cdk.config.software_update import AutoPatchConfig

# Members of the API's ClusterCapacityRequirements.
CAPACITIES = ("OnDemand", "Spot")


class InstanceGroupConfig(NodeGroupConfig, SeveralTypesConfig):
    """Equal nodes of the cluster."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["instance_type"]}, {"required": ["instance_types"]}]
        }
    )

    min_instance_count: InstanceCount | None = None
    """Fewest instances with which the group starts; with fewer after three hours HyperPod takes
    the group back. Needs continuous provisioning. Default: none."""

    capacity: Annotated[str, OneOf(values=CAPACITIES, noun="a kind of capacity")] | None = None
    """OnDemand, or Spot: cheaper, and taken away at two minutes' notice. Default: HyperPod's,
    OnDemand."""

    lifecycle: LifecycleConfig | None = LifecycleConfig()
    """The script that nodes run when they are created; null for none but the AMI's own setup.
    Default: the project's script."""

    image_id: (
        Annotated[str, ApiLimits(shape_name="sagemaker.ImageId", noun="an AMI (or `default`)")]
        | None
    ) = None
    """AMI of your own, made from a HyperPod AMI in this account, or `default` for HyperPod's
    latest. Default: HyperPod's latest."""

    image_release_version: (
        Annotated[
            str,
            ApiLimits(
                shape_name="sagemaker.ImageReleaseVersion",
                noun="a HyperPod AMI release such as 1.2.3",
            ),
        ]
        | None
    ) = None
    """Release of the HyperPod AMI, such as 1.2.3. Default: the latest."""

    auto_patch: AutoPatchConfig | None = None
    """Patch releases of the AMI, applied as they come. Default: none."""

    labels: Labels = Field(default_factory=dict)
    """Kubernetes labels of the nodes, at most 50. Default: none."""

    taints: Annotated[
        Listed[TaintConfig],
        ListLimits(shape_name="sagemaker.ClusterKubernetesTaints", noun="taints"),
    ] = ()
    """Kubernetes taints of the nodes, at most 50; pods of the Helm chart, device plugins among
    them, then need tolerations. Default: none."""

    network_interface_type: (
        Annotated[
            str,
            ApiLimits(
                shape_name="sagemaker.ClusterInterfaceType", noun="a type of network interface"
            ),
        ]
        | None
    ) = None
    """efa: further network cards carry EFA and IP. efa-only: EFA alone, which spares IP addresses.
    Default: HyperPod's."""

    def rule_faults(self) -> Iterator[Fault]:
        """Find what the fields of the group contradict in each other."""
        yield from super().rule_faults()
        least = self.min_instance_count
        if least is not None and least > self.instance_count:
            message = f"must be at most instance_count ({self.instance_count})"
            yield Fault(path=("min_instance_count",), value=least, message=message)

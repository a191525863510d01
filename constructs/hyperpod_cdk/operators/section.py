"""The `operators` section: what runs on the nodes for jobs, each by a switch."""

from collections.abc import Mapping
from typing import Annotated, Final

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS, OperatorAddon
from hyperpod_cdk.schema.section import OfHyperPod, Section

CLUSTER_TAG: Final = {"SageMaker": "true"}
"""Tag of the HyperPod cluster without which the training operator may not look at its nodes.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
"""


class OperatorsConfig(Section):
    """Operators on the nodes, each an EKS add-on; the chart's own ones are `helm.components`."""

    cert_manager: bool = False
    """cert-manager, which makes certificates for webhooks; the training operator, spaces and the
    inference operator need it. Default: false."""

    training_operator: Annotated[bool, OfHyperPod()] = False
    """The HyperPod training operator, which runs each HyperPodPyTorchJob and restarts its processes
    after a fault. Tags the HyperPod cluster SageMaker: "true". Default: false."""

    metrics_server: bool = False
    """The metrics server, for kubectl top and the HorizontalPodAutoscaler; the inference operator
    needs it. Default: false."""

    ebs_csi_driver: bool = False
    """The CSI driver of EBS, with the rights to attach volumes to HyperPod's nodes: volumes for
    claims of pods; spaces need it. Default: false."""

    spaces: Annotated[bool, OfHyperPod()] = False
    """SageMaker Spaces: JupyterLab and Code Editor on the nodes, each a Workspace with a volume,
    reached by kubectl port-forward. Default: false."""

    s3_csi_driver: bool = False
    """The CSI driver of Mountpoint for Amazon S3, with the rights to read cluster.data_buckets and
    the models of SageMaker JumpStart: pods mount them as files; the inference operator needs it.
    Default: false."""

    inference_operator: Annotated[bool, OfHyperPod()] = False
    """The HyperPod inference operator, which runs each InferenceEndpointConfig and JumpStartModel,
    with its load balancer controller and KEDA, a role for each, and a bucket for certificates,
    which is retained. Default: false."""

    node_monitoring_agent: bool = False
    """The EKS node monitoring agent, by which EKS repairs nodes of node groups with faulty
    hardware, such as GPUs; HyperPod's nodes have an agent of their own. Default: false, and EKS
    repairs only nodes that are not ready."""

    cluster_autoscaler: bool = False
    """The Cluster Autoscaler: adds nodes to node_groups, up to max_size, while pods wait, and
    removes those that were empty for ten minutes, down to min_size. desired_size is then the
    initial size. Not with a HyperPod cluster, whose nodes make it stop. Default: false."""

    @property
    def addons(self) -> tuple[OperatorAddon, ...]:
        """The EKS add-ons, in the order in which they are installed."""
        return tuple(addon for addon in OPERATOR_ADDONS if getattr(self, addon.key))

    @property
    def cluster_tags(self) -> Mapping[str, str]:
        """Tags that the HyperPod cluster needs for them."""
        return CLUSTER_TAG if self.training_operator else {}

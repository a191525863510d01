"""The `operators` section: what runs on the nodes for jobs, each by a switch."""

from collections.abc import Mapping
from typing import Annotated, Final

from hyperpod_cdk.schema.section import OfHyperPod, Section, Task

CERT_MANAGER: Final = "cert-manager"
METRICS_SERVER: Final = "metrics-server"
TRAINING_OPERATOR: Final = "amazon-sagemaker-hyperpod-training-operator"
EBS_CSI_DRIVER: Final = "aws-ebs-csi-driver"
SPACES: Final = "amazon-sagemaker-spaces"
KEYS: Final[Mapping[str, str]] = {
    CERT_MANAGER: "cert_manager",
    METRICS_SERVER: "metrics_server",
    TRAINING_OPERATOR: "training_operator",
    EBS_CSI_DRIVER: "ebs_csi_driver",
    SPACES: "spaces",
}
"""Key of each add-on, in the order in which they are installed."""
CLUSTER_TAG: Final = {"SageMaker": "true"}
"""Tag of the HyperPod cluster without which the training operator may not look at its nodes.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
"""

_SPACES = Task("give people notebooks and editors on the nodes")
_TASK = Task("run training jobs with the HyperPod training operator")


class OperatorsConfig(Section):
    """Operators on the nodes, each an EKS add-on; the chart's own ones are `helm.components`."""

    cert_manager: Annotated[bool, _TASK] = False
    """cert-manager, which makes certificates for webhooks; the training operator and spaces need
    it. Default: false."""

    training_operator: Annotated[bool, OfHyperPod(), _TASK] = False
    """The HyperPod training operator, which runs each HyperPodPyTorchJob and restarts its processes
    after a fault. Tags the HyperPod cluster SageMaker: "true". Default: false."""

    metrics_server: Annotated[bool, Task("see what pods and nodes use")] = False
    """The metrics server, for kubectl top and the HorizontalPodAutoscaler. Default: false."""

    ebs_csi_driver: Annotated[bool, _SPACES] = False
    """The CSI driver of EBS, with the rights to attach volumes to HyperPod's nodes: volumes for
    claims of pods; spaces need it. Default: false."""

    spaces: Annotated[bool, OfHyperPod(), _SPACES] = False
    """SageMaker Spaces: JupyterLab and Code Editor on the nodes, each a Workspace with a volume,
    reached by kubectl port-forward. Default: false."""

    @property
    def addons(self) -> tuple[str, ...]:
        """Names of the EKS add-ons, in the order in which they are installed."""
        return tuple(name for name, key in KEYS.items() if getattr(self, key))

    @property
    def cluster_tags(self) -> Mapping[str, str]:
        """Tags that the HyperPod cluster needs for them."""
        return CLUSTER_TAG if self.training_operator else {}

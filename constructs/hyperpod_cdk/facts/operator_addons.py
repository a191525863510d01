"""The EKS add-ons that `operators` switches on, a row each.

Whatever differs between them is in the row: checks, the stack, its templates, `verify`, the
pins read it. Names of workloads and definitions are those that the
add-ons install; replicas are those of their defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorAddon:
    """An EKS add-on of `operators`.

    Attributes:
        name: EKS's name of it.
        key: Its switch in the section.
        says: What it is called in a sentence.
        without: What does not work without it, as a sentence that ends in a space.
        versions: The pin, by the first Kubernetes version that has it.
        namespace: Where its workloads are.
        deployments: How many pods each of its Deployments has, by name.
        daemon_sets: Its DaemonSets.
        needs: Why it needs each further add-on to be installed, by the switch of that one.
        definition: The definition of the objects that users make of it, by which EKS has installed
            it. None if it brings none.
        is_preserved: Whether it stays in the cluster when the add-on is deleted: deleting a
            definition deletes what users have made of its kind.
        tolerates_all: Whether its pods run on nodes with any taint.
        leaves_out_hyperpod: Whether its DaemonSets run on no node of HyperPod.
        values: Its configuration values. Default: the add-on's own.
    """

    name: str
    key: str
    says: str
    without: str
    versions: Mapping[str, str]
    namespace: str = "kube-system"
    deployments: Mapping[str, int] = field(default_factory=dict)
    daemon_sets: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    definition: str | None = None
    is_preserved: bool = False
    tolerates_all: bool = False
    leaves_out_hyperpod: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)


# The node runs deep health checks for hours under a taint, and the training operator waits for the
# webhook's pod. Each part of the chart has tolerations of its own.
# https://cert-manager.io/docs/installation/best-practice/ and
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
_EVERYWHERE = {"tolerations": [{"operator": "Exists"}]}

CERT_MANAGER: Final = OperatorAddon(
    name="cert-manager",
    key="cert_manager",
    says="cert-manager",
    without="No webhook gets a certificate without it. ",
    versions={"1.30": "v1.19.4-eksbuild.3"},
    namespace="cert-manager",
    deployments={"cert-manager": 1, "cert-manager-cainjector": 1, "cert-manager-webhook": 1},
    is_preserved=True,
    tolerates_all=True,
    values={**_EVERYWHERE, "webhook": _EVERYWHERE, "cainjector": _EVERYWHERE},
)
METRICS_SERVER: Final = OperatorAddon(
    name="metrics-server",
    key="metrics_server",
    says="the metrics server",
    without="`kubectl top` shows nothing without it. ",
    versions={"1.30": "v0.8.0-eksbuild.3"},
    deployments={"metrics-server": 2},
)
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
TRAINING_OPERATOR: Final = OperatorAddon(
    name="amazon-sagemaker-hyperpod-training-operator",
    key="training_operator",
    says="the HyperPod training operator",
    without="No HyperPodPyTorchJob starts without it. ",
    versions={"1.30": "v1.2.1-eksbuild.1"},
    namespace="aws-hyperpod",
    deployments={"hp-training-operator-controller-manager": 1},
    needs={"cert_manager": "it has a certificate, which cert-manager makes"},
    definition="hyperpodpytorchjobs.sagemaker.amazonaws.com",
    is_preserved=True,
)
EBS_CSI_DRIVER: Final = OperatorAddon(
    name="aws-ebs-csi-driver",
    key="ebs_csi_driver",
    says="the EBS CSI driver",
    without="No claim gets a volume of EBS without it, nor does a Workspace. ",
    versions={"1.30": "v1.59.0-eksbuild.1"},
    deployments={"ebs-csi-controller": 2},
    daemon_sets=("ebs-csi-node",),
)
# https://docs.aws.amazon.com/eks/latest/userguide/s3-csi-create.html
S3_CSI_DRIVER: Final = OperatorAddon(
    name="aws-mountpoint-s3-csi-driver",
    key="s3_csi_driver",
    says="the S3 CSI driver",
    without="No pod mounts a bucket of S3 without it, nor does an endpoint. ",
    versions={"1.30": "v2.5.0-eksbuild.1"},
    deployments={"s3-csi-controller": 1},
    daemon_sets=("s3-csi-node",),
    values={"node": {"tolerateAllTaints": True}},
)
# https://docs.aws.amazon.com/eks/latest/userguide/node-health.html; where it runs:
# https://github.com/aws/eks-node-monitoring-agent/blob/main/charts/eks-node-monitoring-agent/values.yaml
NODE_MONITORING_AGENT: Final = OperatorAddon(
    name="eks-node-monitoring-agent",
    key="node_monitoring_agent",
    says="the EKS node monitoring agent",
    without="EKS repairs no node of a node group for a faulty GPU without it. ",
    # The latest whose version as an add-on is published:
    # https://github.com/zalando-incubator/kubernetes-on-aws/pull/10794
    versions={"1.30": "v1.6.1-eksbuild.1"},
    daemon_sets=("eks-node-monitoring-agent",),
    tolerates_all=True,
    leaves_out_hyperpod=True,
)
# https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html
SPACES: Final = OperatorAddon(
    name="amazon-sagemaker-spaces",
    key="spaces",
    says="SageMaker Spaces",
    without="No Workspace starts without it. ",
    versions={"1.30": "v0.1.5-eksbuild.1", "1.35": "v0.2.0-eksbuild.2"},
    namespace="jupyter-k8s-system",
    deployments={"jupyter-k8s-controller-manager": 1},
    needs={
        "cert_manager": "its webhook has a certificate, which cert-manager makes",
        "ebs_csi_driver": "each Workspace has a volume, which that driver makes",
    },
    definition="workspaces.workspace.jupyter.org",
    is_preserved=True,
    values={"jupyter-k8s": {"workspacePodWatching": {"enable": True}}},
)
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html
INFERENCE_OPERATOR: Final = OperatorAddon(
    name="amazon-sagemaker-hyperpod-inference",
    key="inference_operator",
    says="the HyperPod inference operator",
    without="No endpoint is served, balanced or scaled without it. ",
    versions={"1.30": "v1.5.0-eksbuild.1"},
    namespace="hyperpod-inference-system",
    deployments={
        "hyperpod-inference-controller-manager": 1,
        "hyperpod-inference-alb": 2,
        "keda-operator": 1,
        "keda-operator-metrics-apiserver": 1,
        "keda-admission-webhooks": 1,
    },
    needs={
        "cert_manager": "endpoints have certificates, which cert-manager makes",
        "metrics_server": "endpoints scale by what their pods use",
        "s3_csi_driver": "endpoints mount models of S3 by that driver",
    },
    definition="inferenceendpointconfigs.inference.sagemaker.aws.amazon.com",
    is_preserved=True,
)

OPERATOR_ADDONS: Final[tuple[OperatorAddon, ...]] = (
    CERT_MANAGER,
    METRICS_SERVER,
    TRAINING_OPERATOR,
    EBS_CSI_DRIVER,
    S3_CSI_DRIVER,
    SPACES,
    INFERENCE_OPERATOR,
    NODE_MONITORING_AGENT,
)
"""In the order in which they are installed."""

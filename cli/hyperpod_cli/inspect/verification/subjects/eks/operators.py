"""The operators that are switched on, each with all its pods."""

from collections.abc import Iterator, Mapping, Sequence

from kubernetes.client import ApiextensionsV1Api

from hyperpod_cdk.operators.section import (
    CERT_MANAGER,
    EBS_CSI_DRIVER,
    INFERENCE_OPERATOR,
    METRICS_SERVER,
    S3_CSI_DRIVER,
    SPACES,
    TRAINING_OPERATOR,
)
from hyperpod_cli.inspect.verification.check import (
    Check,
    LiveDeployment,
    Phase,
    checked,
    existing,
    subject,
)
from hyperpod_cli.inspect.verification.nodes import Workload

_WITHOUT_TRAINING_OPERATOR = "No HyperPodPyTorchJob starts without it. "
_WITHOUT_SPACES = "No Workspace starts without it. "
_WITHOUT_VOLUMES = "No claim gets a volume of EBS without it, nor does a Workspace. "
_WITHOUT_ENDPOINTS = "No endpoint is served, balanced or scaled without it. "
_WITHOUT_MODELS = "No pod mounts a bucket of S3 without it, nor does an endpoint. "
# The kind of each operator's objects, by the name of its definition.
_DEFINITIONS: Mapping[str, tuple[str, str]] = {
    TRAINING_OPERATOR: (
        "hyperpodpytorchjobs.sagemaker.amazonaws.com",
        _WITHOUT_TRAINING_OPERATOR,
    ),
    SPACES: ("workspaces.workspace.jupyter.org", _WITHOUT_SPACES),
    INFERENCE_OPERATOR: (
        "inferenceendpointconfigs.inference.sagemaker.aws.amazon.com",
        _WITHOUT_ENDPOINTS,
    ),
}
_AUTOSCALER = Workload(
    kind="deploy",
    name="cluster-autoscaler",
    namespace="kube-system",
    without="No node comes or goes without it. ",
)
_WORKLOADS: Mapping[str, Sequence[Workload]] = {
    CERT_MANAGER: [
        Workload(
            kind="deploy",
            name=name,
            namespace="cert-manager",
            without="No webhook gets a certificate without it. ",
        )
        for name in ("cert-manager", "cert-manager-cainjector", "cert-manager-webhook")
    ],
    METRICS_SERVER: [
        Workload(
            kind="deploy",
            name="metrics-server",
            namespace="kube-system",
            without="`kubectl top` shows nothing without it. ",
        )
    ],
    TRAINING_OPERATOR: [
        Workload(
            kind="deploy",
            name="hp-training-operator-controller-manager",
            namespace="aws-hyperpod",
            without=_WITHOUT_TRAINING_OPERATOR,
        )
    ],
    EBS_CSI_DRIVER: [
        Workload(
            kind="deploy",
            name="ebs-csi-controller",
            namespace="kube-system",
            without=_WITHOUT_VOLUMES,
        ),
        Workload(kind="ds", name="ebs-csi-node", namespace="kube-system", without=_WITHOUT_VOLUMES),
    ],
    SPACES: [
        Workload(
            kind="deploy",
            name="jupyter-k8s-controller-manager",
            namespace="jupyter-k8s-system",
            without=_WITHOUT_SPACES,
        )
    ],
    S3_CSI_DRIVER: [
        Workload(
            kind="deploy",
            name="s3-csi-controller",
            namespace="kube-system",
            without=_WITHOUT_MODELS,
        ),
        Workload(kind="ds", name="s3-csi-node", namespace="kube-system", without=_WITHOUT_MODELS),
    ],
    INFERENCE_OPERATOR: [
        Workload(
            kind="deploy",
            name=name,
            namespace="hyperpod-inference-system",
            without=_WITHOUT_ENDPOINTS,
        )
        for name in (
            "hyperpod-inference-controller-manager",
            "hyperpod-inference-alb",
            "keda-operator",
            "keda-operator-metrics-apiserver",
            "keda-admission-webhooks",
        )
    ],
}


@subject(
    phase=Phase.ADDONS,
    row="each Deployment and DaemonSet of the operators that are on has all its pods; the "
    "definitions of HyperPodPyTorchJob, Workspace and InferenceEndpointConfig are there",
    needs_kubernetes=True,
)
def operators(deployment: LiveDeployment) -> Iterator[Check]:
    """Check the pods of each operator that is on, and the kinds of objects that it brings."""
    if deployment.config.operators.cluster_autoscaler:
        yield _AUTOSCALER.check(deployment, install="Run `make deploy`, which installs it")
    for addon in deployment.config.operators.addons:
        again = (
            f"It was deleted; EKS puts it back: `aws eks update-addon --cluster-name "
            f"{deployment.config.eks_cluster_name} --addon-name {addon} "
            "--resolve-conflicts OVERWRITE`"
        )
        if addon in _DEFINITIONS:
            definition, without = _DEFINITIONS[addon]
            found = existing(
                ApiextensionsV1Api(deployment.kubernetes).read_custom_resource_definition,
                definition,
                _preload_content=False,
            )
            yield checked(
                f"kubectl get crd {definition}",
                problem=None if found is not None else "is not installed",
                advice=without + again,
            )
        for workload in _WORKLOADS[addon]:
            yield workload.check(deployment, install=again)

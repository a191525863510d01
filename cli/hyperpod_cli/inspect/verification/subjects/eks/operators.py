"""The operators that are switched on, each with all its pods."""

from collections.abc import Iterator, Mapping, Sequence

from kubernetes.client import ApiextensionsV1Api

from hyperpod_cdk.operators.section import CERT_MANAGER, METRICS_SERVER, TRAINING_OPERATOR
from hyperpod_cli.inspect.verification.check import (
    Check,
    LiveDeployment,
    Phase,
    checked,
    existing,
    subject,
)
from hyperpod_cli.inspect.verification.nodes import Workload

_TRAINING_JOBS = "hyperpodpytorchjobs.sagemaker.amazonaws.com"
_WITHOUT_TRAINING_OPERATOR = "No HyperPodPyTorchJob starts without it. "
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
}


@subject(
    phase=Phase.ADDONS,
    row="each Deployment of the operators that are on has all its pods; the definition of "
    "HyperPodPyTorchJob is there",
    needs_kubernetes=True,
)
def operators(deployment: LiveDeployment) -> Iterator[Check]:
    """Check the pods of each operator that is on, and the training operator's kind of job."""
    for addon in deployment.config.operators.addons:
        again = (
            f"It was deleted; EKS puts it back: `aws eks update-addon --cluster-name "
            f"{deployment.config.eks_cluster_name} --addon-name {addon} "
            "--resolve-conflicts OVERWRITE`"
        )
        if addon == TRAINING_OPERATOR:
            found = existing(
                ApiextensionsV1Api(deployment.kubernetes).read_custom_resource_definition,
                _TRAINING_JOBS,
                _preload_content=False,
            )
            yield checked(
                f"kubectl get crd {_TRAINING_JOBS}",
                problem=None if found is not None else "is not installed",
                advice=_WITHOUT_TRAINING_OPERATOR + again,
            )
        for workload in _WORKLOADS[addon]:
            yield workload.check(deployment, install=again)

"""Refusals of what would hang or fail later."""

from collections.abc import Sequence

from kubernetes.client import ApiClient, CoreV1Api

from hyperpod_cdk.facts.job_resources import GPU
from hyperpod_cli.operate import job_charts
from hyperpod_cli.operate.job_options import Options
from hyperpod_cli.operate.validation.targets import TestedNode
from hyperpod_cli.terminal.errors import OpsError

_MPI = ("kubeflow.org/v2beta1", "MPIJob")


def refuse_what_cannot_work(api: ApiClient, nodes: Sequence[TestedNode], options: Options) -> None:
    """Refuse, before anything is submitted, what would hang or fail later."""
    without = [check for check in options.checks if check != "fabric"]
    others = " ".join(f"--check {check}" for check in without) or "--check node"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": options.namespace}}
    if job_charts.live(api, namespace) is None:
        raise OpsError(f"--namespace: {options.namespace!r} is not in the cluster; create it")
    if "fabric" in options.checks:
        for node in nodes:
            if not node.resources.efa:
                raise OpsError(
                    f"--check fabric: {node.instance_type} of group {node.group} has no EFA; name "
                    f"a group that has with --group, or run the others: {others}"
                )
        is_gpu = any(node.resources.accelerator == GPU for node in nodes)
        if is_gpu and not job_charts.is_served(api, *_MPI):
            raise OpsError(
                f"--check fabric: the cluster does not know {_MPI[1]} of {_MPI[0]}; switch the MPI "
                "operator on (helm.components.mpi_operator: true) and deploy, or run the others: "
                f"{others}"
            )
    if "storage" in options.checks:
        _refuse_claim(api, options)
    if all(node.trouble for node in nodes):
        why = "; ".join(f"{node.name}: {node.trouble}" for node in nodes[:3])
        raise OpsError(
            f"nodes: none of {len(nodes)} is idle: {why}; wait until they are, or wait for them "
            "with --include-busy"
        )


def _refuse_claim(api: ApiClient, options: Options) -> None:
    claims = CoreV1Api(api).list_namespaced_persistent_volume_claim(options.namespace).items
    phases = {item.metadata.name: item.status.phase for item in claims}
    if phases.get(options.claim) == "Bound":
        return
    if options.claim in phases:
        problem = (
            f"claim {options.claim!r} in namespace {options.namespace} is {phases[options.claim]}, "
            f"not Bound; see `kubectl describe pvc -n {options.namespace} {options.claim}`"
        )
    else:
        known = ", ".join(sorted(phases)) or "none"
        problem = (
            f"there is no claim {options.claim!r} in namespace {options.namespace}; it has: {known}"
        )
    others = " ".join(f"--check {check}" for check in options.checks if check != "storage")
    raise OpsError(f"--claim: {problem}{others and f'; to leave storage out: {others}'}")

"""The Kubernetes Nodes of a HyperPod cluster that is gone."""

from collections.abc import Callable

from hyperpod_shared.aws_errors import AWS_ERRORS
from hyperpod_shared.clusters import CLUSTER_LABEL, ClusterInput
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from provisioner.framework.retry import Clock
from provisioner.kubernetes.cluster import EksConnection
from provisioner.kubernetes.failures import CommandFailedError

_COMMAND_SECONDS = 30.0
_NAMESPACE = "default"
# A deletion must not fail for what is left in a Kubernetes API that cannot be reached.
_PASSED_OVER: tuple[type[Exception], ...] = (*AWS_ERRORS, CommandFailedError, ProvisioningError)


def delete_node_objects(
    cluster: ClusterInput, clock: Clock, *, connection: Callable[[], EksConnection]
) -> None:
    """Delete the Kubernetes Nodes that outlive their HyperPod cluster, where they can be reached.

    Nothing else deletes them: the instances are in the service's account, where the cloud
    controller manager of EKS does not see them. Pods stay bound to such a Node, and hold up their
    namespaces.
    """
    arn = cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", "")
    if not arn:
        return
    try:
        eks = connection()
        described = eks.describe(arn.rpartition("/")[2], clock)
        with eks.connect(described, namespace=_NAMESPACE) as commands:
            kubectl = commands.kubectl(timeout_seconds=_COMMAND_SECONDS)
            selector = f"{CLUSTER_LABEL}={cluster['ClusterName']}"
            deleted = kubectl.delete("nodes", selector=selector)
    except _PASSED_OVER as error:
        log.warning("nodes may be left in Kubernetes", eks_cluster=arn, cause=str(error))
        return
    log.info("nodes left in Kubernetes", eks_cluster=arn, deleted=deleted)

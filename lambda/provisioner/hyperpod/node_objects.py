"""Kubernetes Nodes that outlive their HyperPod cluster.

Nothing else deletes them: the instances are in the service's account, where the cloud controller
manager of EKS does not see them. Pods stay bound to such a Node, and hold up their namespaces.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hyperpod_shared.aws_errors import AWS_ERRORS
from hyperpod_shared.clusters import CLUSTER_LABEL, ClusterInput
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from provisioner.framework.retry import Clock
from provisioner.kubernetes.connection import EksConnection
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import Kubectl

_COMMAND_SECONDS = 30.0
_NAMESPACE = "default"
# A deletion must not fail for what is left in a Kubernetes API that cannot be reached.
_PASSED_OVER: tuple[type[Exception], ...] = (*AWS_ERRORS, CommandFailedError, ProvisioningError)

DeleteNodeObjects = Callable[[ClusterInput, Clock], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeObjects:
    """The Nodes of HyperPod clusters.

    Attributes:
        connection: Connects to EKS.
    """

    connection: EksConnection

    def delete(self, cluster: ClusterInput, clock: Clock) -> None:
        """Delete what is left of a cluster that is gone; one that cannot be reached is left alone.

        Args:
            cluster: The CreateCluster input of the cluster.
            clock: Time and sleep.
        """
        arn = cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", "")
        if not arn:
            return
        try:
            described = self.connection.describe(arn.rpartition("/")[2], clock)
            with self.connection.connect(described, namespace=_NAMESPACE) as commands:
                kubectl = Kubectl(
                    run=commands.kubectl,
                    home=commands.home,
                    timeout_seconds=lambda: _COMMAND_SECONDS,
                )
                selector = f"{CLUSTER_LABEL}={cluster['ClusterName']}"
                deleted = kubectl.delete("nodes", selector=selector)
        except _PASSED_OVER as error:
            log.warning("nodes may be left in Kubernetes", eks_cluster=arn, cause=str(error))
            return
        log.info("nodes left in Kubernetes", eks_cluster=arn, deleted=deleted)

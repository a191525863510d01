"""EKS access entries that a deleted HyperPod cluster left behind.

HyperPod makes one for each execution role and takes it away with the cluster. One that stays
would let nodes of that role into the Kubernetes cluster, and hinder the next HyperPod cluster.
"""

from provisioner.aws.api import AccessEntriesApi
from provisioner.aws.errors import AWS_ERRORS, is_not_found
from provisioner.framework import log
from provisioner.hyperpod.groups import ClusterRequest, groups_of

HYPERPOD_LINUX = "HYPERPOD_LINUX"
"""The type of the entries that HyperPod makes; others are not its own."""


def remove_left_behind(entries: AccessEntriesApi, request: ClusterRequest) -> None:
    """Remove the entries of a cluster that is gone; trouble is logged and harms nothing.

    Args:
        entries: Makes the calls.
        request: The CreateCluster input that the cluster was last given.
    """
    eks_cluster = (request.get("Orchestrator") or {}).get("Eks", {}).get("ClusterArn", "")
    name = eks_cluster.rpartition("/")[2]
    roles = {group.get("ExecutionRole") for group in groups_of(request).values()}
    for role in sorted(role for role in roles if role and name):
        try:
            _remove(entries, name, role)
        except AWS_ERRORS as error:
            if not is_not_found(error):
                log.warning("access entry not removed", role=role, cause=str(error))


def _remove(entries: AccessEntriesApi, eks_cluster: str, role: str) -> None:
    entry = entries.describe_access_entry(clusterName=eks_cluster, principalArn=role)
    if entry["accessEntry"].get("type") == HYPERPOD_LINUX:
        entries.delete_access_entry(clusterName=eks_cluster, principalArn=role)
        log.warning("removed an access entry left behind", role=role, eks_cluster=eks_cluster)

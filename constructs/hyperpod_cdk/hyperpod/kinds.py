"""Which construct makes a HyperPod cluster."""

from collections.abc import Callable
from functools import partial

from hyperpod_cdk.hyperpod.cluster import HyperPodCluster
from hyperpod_cdk.hyperpod.native_cluster import NativeHyperPodCluster
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner

MakesCluster = Callable[..., HyperPodCluster | NativeHyperPodCluster]


def hyperpod_cluster(cluster: ClusterConfig, *, provisioner: Provisioner) -> MakesCluster:
    """Return the class that a cluster's `resource` names, to be called with the other arguments.

    Args:
        cluster: The cluster.
        provisioner: Makes the calls of the custom resource.
    """
    kinds: dict[str, MakesCluster] = {
        "custom": partial(HyperPodCluster, provisioner=provisioner),
        "native": NativeHyperPodCluster,
    }
    return kinds[cluster.resource]

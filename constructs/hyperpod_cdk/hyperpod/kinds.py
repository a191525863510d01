"""Which construct makes a HyperPod cluster."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.hyperpod.cluster import HyperPodCluster
from hyperpod_cdk.hyperpod.native_cluster import NativeHyperPodCluster
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.provisioner.provisioner import Provisioner


class MakesCluster(Protocol):
    """What makes the construct, with the arguments of `NativeHyperPodCluster`."""

    def __call__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ClusterConfig,
        orchestrator: Orchestrator,
        execution_role: iam.IRole,
        subnets: NodeSubnets,
        security_group: ec2.ISecurityGroup,
        lifecycle_scripts: LifecycleScripts | None = None,
        cluster_role: iam.IRole | None = None,
        tags: Mapping[str, str] | None = None,
        depends_on: Sequence[IDependable] = (),
    ) -> HyperPodCluster | NativeHyperPodCluster:
        """Return the construct."""
        ...


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

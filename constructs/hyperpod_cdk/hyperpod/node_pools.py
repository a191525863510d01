"""The Helm release of Karpenter's NodePools."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.hyperpod.node_pool_section import pool_values
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html
DEFINITIONS: Final = (
    "hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com",
    "nodepools.karpenter.sh",
)
"""What HyperPod brings when autoscaling is in service; it may be later than the cluster."""


class NodePools(Construct):
    """NodePools and HyperpodNodeClasses of the managed Karpenter, as a Helm release.

    Deleting it takes the nodes away that Karpenter has added: let it depend on the cluster, so that
    it is gone before the cluster goes.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the EKS cluster.
        hyperpod: The HyperPod cluster, with `node_pools` and the groups that they name.
        release: Release name. Default: `hyperpod-node-pools`.
        depends_on: The HyperPod cluster, as a resource.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        hyperpod: ClusterConfig,
        release: str = "hyperpod-node-pools",
        depends_on: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, construct_id)
        groups = {group.name: group for group in hyperpod.instance_groups}
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "node-pools",
            release=release,
            namespace="kube-system",
            values={"pools": [pool_values(pool, groups) for pool in hyperpod.node_pools]},
            needs_definitions=DEFINITIONS,
            depends_on=depends_on,
        )

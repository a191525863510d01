"""EKS node groups, and without a HyperPod cluster the Helm releases."""

from constructs import Construct

from hyperpod_cdk.node_groups.autoscaler import ClusterAutoscaler
from hyperpod_cdk.node_groups.node_groups import NodeGroups
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind


class NodeGroupsStack(DeployedStack):
    """The node groups of EC2 instances, with their role and launch templates.

    The Helm releases are in the stack of the first nodes: the HyperPod stack, or else this one.
    """

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, platform = stacks.config, stacks.of(PlatformStack)
        orchestration, is_scaled = platform.orchestration, config.operators.cluster_autoscaler
        orchestration.add_before_nodes(self, platform)
        made = NodeGroups(
            self,
            "NodeGroups",
            cluster=platform.eks_cluster,
            groups=config.node_groups,
            kubernetes_version=config.eks.version,
            vpc=platform.network.vpc,
            subnets=platform.network.node_subnets,
            security_group=platform.security_group,
            volume_key=platform.keys.node_volumes,
            instance_tags=config.tags,
            autoscaled_with=platform.provisioner if is_scaled else None,
        )
        if is_scaled:
            ClusterAutoscaler(
                self,
                "ClusterAutoscaler",
                cluster=platform.eks_cluster,
                provisioner=platform.provisioner,
                kubernetes_version=config.eks.version,
                registry=config.helm.image_registry,
            )
        orchestration.add_after_nodes(self, platform)
        self.add_outputs({"NodeRoleArn": made.role.role_arn})

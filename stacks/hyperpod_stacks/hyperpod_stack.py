"""What is created, changed and deleted often: the cluster, and what it needs."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_cdk.hyperpod.cluster import hyperpod_cluster
from hyperpod_cdk.hyperpod.execution_role import AutoScalingRole
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.operators.inference import ClusterArnParameter
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind, cluster_arn_parameter


class HyperPodStack(DeployedStack):
    """The HyperPod cluster, and what its orchestrator adds: with EKS, Helm releases."""

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, platform = stacks.config, stacks.of(PlatformStack)
        orchestration = platform.orchestration
        before_cluster = orchestration.add_before_cluster(self, platform, stored=stacks.stored)
        cluster = hyperpod_cluster(
            self,
            "Cluster",
            cluster=platform.cluster,
            orchestrator=orchestration.of_cluster(stacks.stored),
            provisioner=platform.provisioner,
            execution_role=platform.execution_role,
            subnets=platform.network.node_subnets,
            security_group=platform.security_group,
            lifecycle_scripts=platform.lifecycle_scripts,
            cluster_role=self._cluster_role(platform.cluster),
            tags={**config.tags, **config.operators.cluster_tags},
            depends_on=before_cluster,
        )
        if config.operators.inference_operator:
            ClusterArnParameter(
                self,
                "ClusterArn",
                name=cluster_arn_parameter(config),
                cluster_arn=cluster.cluster_arn,
            )
        orchestration.add_after_cluster(self, platform, cluster=cluster)
        self.add_outputs(
            {
                "HyperPodClusterName": cluster.cluster_name,
                "HyperPodClusterArn": cluster.cluster_arn,
                # The CLI sorts outputs and prints them last: what is short is read at the end.
                SHORTAGE: cluster.shortage,
            },
        )

    def _cluster_role(self, cluster: ClusterConfig) -> iam.IRole | None:
        if cluster.auto_scaling is None or cluster.role_arn is not None:
            return None
        return AutoScalingRole(self, "AutoScalingRole", volume_key_ids=cluster.volume_key_ids).role

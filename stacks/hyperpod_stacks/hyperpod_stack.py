"""What is created, changed and deleted often: the dependencies and the cluster."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.helm.dependencies import HyperPodDependencies
from hyperpod_cdk.helm.release import DeletionCheck, PriorityClasses
from hyperpod_cdk.hyperpod.cluster import hyperpod_cluster
from hyperpod_cdk.hyperpod.execution_role import AutoScalingRole
from hyperpod_cdk.hyperpod.orchestrator import Eks
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.node_health.node_health import NodeHealth
from hyperpod_stacks.platform_stack import PlatformStack, add_outputs


class HyperPodStack(cdk.Stack):
    """The HyperPod dependencies, PriorityClasses and the HyperPod cluster.

    Its deletion begins with a check that nothing of users is lost.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        chart: HyperPodChart,
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, stack_name=construct_id, **kwargs)
        dependencies = HyperPodDependencies(
            self,
            "Dependencies",
            cluster=platform.eks_cluster,
            provisioner=platform.provisioner,
            chart=chart,
            helm=config.helm,
            instance_types=config.cluster.instance_types,
        )
        before_cluster: list[Construct] = [dependencies]
        if config.helm.priority_classes:
            before_cluster.append(
                PriorityClasses(
                    self,
                    "PriorityClasses",
                    cluster=platform.eks_cluster,
                    provisioner=platform.provisioner,
                    classes=config.helm.priority_classes,
                    namespace=config.helm.namespace,
                )
            )
        # The cluster does not wait for it: a node joins without it.
        if config.node_health is not None:
            NodeHealth(
                self,
                "NodeHealth",
                cluster=platform.eks_cluster,
                provisioner=platform.provisioner,
                health=config.node_health,
                instance_types=config.cluster.instance_types,
            )
        cluster = hyperpod_cluster(
            self,
            "Cluster",
            cluster=platform.cluster,
            orchestrator=Eks(cluster=platform.eks_cluster),
            provisioner=platform.provisioner,
            execution_role=platform.execution_role,
            subnets=platform.network.node_subnets,
            security_group=platform.security_group,
            lifecycle_scripts=platform.lifecycle_scripts,
            cluster_role=self._cluster_role(platform.cluster),
            tags={**config.tags, **config.operators.cluster_tags},
            depends_on=before_cluster,
        )
        # CloudFormation deletes it first, so it depends on all there is.
        everything = list(self.node.children)
        DeletionCheck(
            self,
            "DeletionCheck",
            cluster=platform.eks_cluster,
            provisioner=platform.provisioner,
            releases=[dependencies],
            delete_user_objects=config.helm.delete_user_objects,
            depends_on=everything,
        )
        add_outputs(
            self,
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

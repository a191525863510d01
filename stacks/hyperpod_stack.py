"""What is created, changed and deleted often: the dependencies, the cluster, its add-ons."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.autoscaling_role import AutoScalingRole
from hyperpod_cdk.config import ClusterConfig, Config
from hyperpod_cdk.helm_release import HelmRelease
from hyperpod_cdk.hyperpod_cluster import HyperPodCluster
from hyperpod_cdk.instance_group import LifecycleConfig
from hyperpod_cdk.priority_classes import PriorityClasses
from stacks.cluster_settings import shared_environment, tiered_storage
from stacks.cluster_waiting import cluster_waiting
from stacks.execution_role_needs import volume_key_ids
from stacks.instance_groups import Surroundings, instance_group, restricted_instance_group
from stacks.outputs import add_outputs
from stacks.platform_stack import PlatformStack


class HyperPodStack(cdk.Stack):
    """The HyperPod dependencies, PriorityClasses, the HyperPod cluster, add-ons with pods."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        chart: Path,
        values: Mapping[str, Any],
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, **kwargs)
        dependencies = HelmRelease(
            self,
            "Dependencies",
            cluster=platform.eks_cluster,
            provisioner=platform.provisioner,
            chart=chart,
            release=config.helm.release,
            namespace=config.helm.namespace,
            values=values,
            adopt_namespaces=config.helm.adopt_namespaces,
            delete_user_objects=config.helm.delete_user_objects,
            wait_for_ready=cdk.Duration.minutes(config.helm.wait_for_ready_minutes),
        )
        surroundings = Surroundings(
            subnet_id_in=lambda zone: platform.network.hyperpod_subnet_in(zone).subnet_id,
            security_group_id=platform.security_group.security_group_id,
            lifecycle=LifecycleConfig(
                source_s3_uri=platform.lifecycle_scripts.s3_uri,
                on_create=platform.lifecycle_scripts.on_create,
            ),
        )
        before_cluster: list[Construct] = [dependencies]
        if config.helm.priority_classes:
            before_cluster.append(
                PriorityClasses(
                    self,
                    "PriorityClasses",
                    cluster=platform.eks_cluster,
                    provisioner=platform.provisioner,
                    classes=[item.priority_class() for item in config.helm.priority_classes],
                    namespace=config.helm.namespace,
                )
            )
        cluster = HyperPodCluster(
            self,
            "Cluster",
            cluster_name=config.cluster.name,
            eks_cluster=platform.eks_cluster,
            provisioner=platform.provisioner,
            execution_role=platform.execution_role,
            subnets=platform.network.hyperpod_subnets,
            security_group=platform.security_group,
            instance_groups=[
                instance_group(group, surroundings) for group in config.cluster.instance_groups
            ],
            restricted_instance_groups=[
                restricted_instance_group(group, surroundings)
                for group in config.cluster.restricted_instance_groups
            ],
            shared_environment=shared_environment(config.cluster.shared_environment),
            node_recovery=config.cluster.node_recovery,
            node_provisioning_mode=config.cluster.node_provisioning_mode,
            tiered_storage=tiered_storage(config.cluster.tiered_storage),
            auto_scaling=config.cluster.auto_scaling,
            cluster_role=self._cluster_role(config.cluster),
            waiting=cluster_waiting(config.cluster),
            tags=config.tags,
            depends_on=before_cluster,
        )
        # Their pods need nodes. CloudFormation takes a DEGRADED add-on as created, so a cluster
        # whose nodes are still on their way does not fail here.
        addons = {"CoreDns": "coredns"}
        if config.storage is not None:
            addons["FsxCsiDriver"] = "aws-fsx-csi-driver"
        for construct_name, addon_name in addons.items():
            addon = eks.Addon(
                self, construct_name, cluster=platform.eks_cluster, addon_name=addon_name
            )
            addon.node.add_dependency(cluster)
        add_outputs(
            self,
            {
                "HyperPodClusterName": cluster.cluster_name,
                "HyperPodClusterArn": cluster.cluster_arn,
            },
        )
        if config.cluster.wait_for == "nodes":
            # Only then is it known what is missing when the deployment ends.
            add_outputs(self, {"HyperPodClusterShortage": cluster.shortage})

    def _cluster_role(self, cluster: ClusterConfig) -> iam.IRole | None:
        if cluster.role_arn is not None:
            return iam.Role.from_role_arn(self, "ClusterRole", cluster.role_arn, mutable=False)
        if cluster.auto_scaling is None:
            return None
        return AutoScalingRole(self, "AutoScalingRole", volume_key_ids=volume_key_ids(cluster)).role

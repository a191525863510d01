"""What is created, changed and deleted often: the dependencies, the cluster, its add-ons."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.config import Config
from hyperpod_cdk.helm_release import HelmRelease
from hyperpod_cdk.hyperpod_cluster import HyperPodCluster, InstanceGroup, LifecycleConfig
from hyperpod_cdk.hyperpod_dependencies import hyperpod_dependency_values
from stacks.outputs import add_outputs
from stacks.platform_stack import PlatformStack


class HyperPodStack(cdk.Stack):
    """The Helm release of the HyperPod dependencies, the HyperPod cluster, add-ons with pods."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        chart: Path,
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
            values=hyperpod_dependency_values(region=self.region, overrides=config.helm.values),
            adopt_namespaces=config.helm.adopt_namespaces,
            delete_user_objects=config.helm.delete_user_objects,
            wait_for_ready=cdk.Duration.minutes(config.helm.wait_for_ready_minutes),
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
            lifecycle=LifecycleConfig(
                source_s3_uri=platform.lifecycle_scripts.s3_uri,
                on_create=platform.lifecycle_scripts.on_create,
            ),
            instance_groups=[
                InstanceGroup(
                    name=group.name,
                    instance_type=group.instance_type,
                    instance_count=group.instance_count,
                    volume_size_gib=group.volume_size_gib,
                    threads_per_core=group.threads_per_core,
                    deep_health_checks=group.deep_health_checks,
                )
                for group in config.cluster.instance_groups
            ],
            node_recovery=config.cluster.node_recovery,
            node_provisioning_mode=config.cluster.node_provisioning_mode,
            tags=config.tags,
            depends_on=[dependencies],
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

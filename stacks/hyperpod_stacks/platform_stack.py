"""What lives for months: network, control plane, bucket, roles, provisioner."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.cluster import eks_cluster_of
from hyperpod_cdk.eks.pod_security import EditorsPodSecurity
from hyperpod_cdk.eks.section import EditorsConfig
from hyperpod_cdk.encryption.data_keys import data_keys
from hyperpod_cdk.hyperpod.execution_role import execution_role_of
from hyperpod_cdk.hyperpod.orchestrator import Eks
from hyperpod_cdk.lifecycle_scripts.bucket import lifecycle_bucket_of
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.endpoints import VpcEndpoints
from hyperpod_cdk.network.network import Network, network_of
from hyperpod_cdk.network.section import FULL_ACCESS
from hyperpod_cdk.network.security_group import DefaultSecurityGroup, security_group_of
from hyperpod_cdk.provisioner.access import ProvisionerAccess
from hyperpod_cdk.provisioner.provisioner import Provisioner, VpcPlacement
from hyperpod_cdk.synthesis.logs import LogGroups
from hyperpod_stacks.table import log_groups_of


class PlatformStack(cdk.Stack):
    """VPC, security group, EKS control plane, lifecycle bucket, execution role, provisioner."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        scripts: Path | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, stack_name=construct_id, **kwargs)
        self.keys = data_keys(
            self,
            "EncryptionKey",
            encryption=config.encryption,
            alias=config.name,
            log_groups=log_groups_of(config),
        )
        self.log_groups = log_groups = LogGroups(
            key=self.keys.logs, retention_days=config.log_retention_days
        )
        self.cluster = config.cluster.with_volume_key(self.keys.volume_key_arn)
        self.network = network_of(self, "Network", network=config.network, log_groups=log_groups)
        self.security_group = security_group_of(
            self, "ClusterSecurityGroup", network=config.network, vpc=self.network.vpc
        ).security_group
        endpoints = self._endpoints(config) if config.network.closed else []
        self.in_network = VpcPlacement(
            vpc=self.network.vpc,
            subnets=self.network.node_subnets.subnets,
            security_group=self.security_group,
            internet_access=[*self.network.internet_access, *endpoints],
        )
        self.provisioner = Provisioner(
            self,
            "Provisioner",
            placement=None if config.eks.is_reachable_from_anywhere else self.in_network,
            log_groups=log_groups,
            environment_key=self.keys.environment,
        )
        if self.network.default_security_group_id is not None:
            DefaultSecurityGroup(
                self,
                "DefaultSecurityGroup",
                group_id=self.network.default_security_group_id,
                provisioner=self.provisioner,
            )
        control_plane = eks_cluster_of(
            self,
            "Eks",
            cluster_name=config.eks_cluster_name,
            eks=config.eks,
            vpc=self.network.vpc,
            subnets=self.network.eks_subnets,
            security_group=self.security_group,
            secrets_key=self.keys.eks_secrets,
            log_groups=log_groups,
            provisioner=self.provisioner,
        )
        self.eks_cluster = control_plane.cluster
        access = ProvisionerAccess(
            self,
            "ProvisionerAccess",
            cluster=self.eks_cluster,
            provisioner=self.provisioner,
            depends_on=control_plane.before_access,
        )
        if config.eks.editors:
            self._limit_editors(config.eks.editors, control_plane.entries, access=access)
        bucket = lifecycle_bucket_of(
            self,
            "LifecycleBucket",
            lifecycle_scripts=config.lifecycle_scripts,
            default_name=f"sagemaker-{config.name}-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}",
            encryption_key=self.keys.lifecycle_bucket,
            access_log_days=config.log_retention_days,
        ).bucket
        self.lifecycle_scripts = LifecycleScripts(
            self,
            "LifecycleScripts",
            bucket=bucket,
            provisioner=self.provisioner,
            directory=scripts,
            settings=config.scripts_settings,
            prefix=config.scripts_prefix,
            own=config.lifecycle_scripts,
            folders=config.cluster.own_scripts,
            writers=config.lifecycle_scripts.writers,
        )
        self.execution_role = execution_role_of(
            self,
            "ExecutionRole",
            cluster=self.cluster,
            orchestrator=Eks(cluster=self.eks_cluster),
            vpc=self.network.vpc,
            subnets=self.network.node_subnets,
            security_group=self.security_group,
            lifecycle_scripts=self.lifecycle_scripts,
        ).role
        subnet_ids = self.network.node_subnets.ids
        names = {
            "EKSClusterName": self.eks_cluster.cluster_name,
            "EKSClusterArn": self.eks_cluster.cluster_arn,
            "S3BucketName": bucket.bucket_name,
            "SageMakerIAMRoleArn": self.execution_role.role_arn,
            "VpcId": self.network.vpc.vpc_id,
            "SecurityGroupId": self.security_group.security_group_id,
        }
        add_outputs(self, {**names, "PrivateSubnetId": subnet_ids[0]})
        # The keys that the public create_config.sh asks for.
        add_outputs(
            self,
            {
                **{f"Output{name}": value for name, value in names.items()},
                "OutputPrivateSubnetIds": cdk.Fn.join(",", subnet_ids),
            },
        )
        add_outputs(self, {"EncryptionKeyArn": self.keys.key_arn})
        add_outputs(self, {"GrantAdminCommand": self._grant_admin_command()})

    @property
    @jsii.member(jsii_name="availabilityZones")
    def availability_zones(self) -> list[str]:
        """The zones by name, as in a stack whose account is not known; CDK would look them up."""
        return [cdk.Fn.select(index, cdk.Fn.get_azs()) for index in range(2)]

    def _grant_admin_command(self) -> str:
        """Return what gives an IAM principal admin access to the Kubernetes cluster."""
        entry = (
            f"--cluster-name {self.eks_cluster.cluster_name} --region {self.region} "
            "--principal-arn PRINCIPAL_ARN"
        )
        policy = f"arn:{self.partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
        return (
            f"aws eks create-access-entry {entry} && aws eks associate-access-policy {entry} "
            f"--policy-arn {policy} --access-scope type=cluster"
        )

    def _endpoints(self, config: Config) -> list[Construct]:
        # The section refuses a closed network in a VPC that exists.
        assert isinstance(self.network, Network)  # noqa: S101 - narrows it for mypy
        overrides = [group.override_vpc for group in config.cluster.all_groups]
        return VpcEndpoints(
            self,
            "VpcEndpoints",
            vpc=self.network.vpc,
            subnets=self.network.endpoint_subnets,
            services=list(config.endpoint_services),
            s3_endpoint=self.network.s3_endpoint,
            security_group_ids=[
                self.security_group.security_group_id,
                *(name for vpc in overrides if vpc is not None for name in vpc.security_group_ids),
            ],
            full_access=config.network.endpoint_policies == FULL_ACCESS,
        ).endpoints

    def _limit_editors(
        self,
        editors: Sequence[EditorsConfig],
        entries: Mapping[str, Construct],
        *,
        access: ProvisionerAccess,
    ) -> None:
        """Have the namespaces of editors limit their pods before the editors get in."""
        pod_security = EditorsPodSecurity(
            self,
            "EditorsPodSecurity",
            cluster=self.eks_cluster,
            provisioner=self.provisioner,
            editors=editors,
            depends_on=[access],
        )
        for principal in sorted({arn for each in editors for arn in each.principals}):
            entries[principal].node.add_dependency(pod_security)


def add_outputs(stack: cdk.Stack, values: Mapping[str, str | None]) -> None:
    """Add one output for each name that has a value.

    No export, so no other stack is held back by it.
    """
    for name, value in values.items():
        if value is not None:
            cdk.CfnOutput(stack, name, value=value).override_logical_id(name)

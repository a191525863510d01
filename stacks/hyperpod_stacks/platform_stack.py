"""What lives for months: network, control plane, bucket, roles, provisioner."""

from dataclasses import replace

import aws_cdk as cdk
import jsii
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.encryption.data_keys import data_keys
from hyperpod_cdk.hyperpod.execution_role import ExecutionRole, RoleUse, execution_role_of
from hyperpod_cdk.lifecycle_scripts.bucket import lifecycle_bucket_of
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.endpoints import VpcEndpoints
from hyperpod_cdk.network.network import Network, network_of
from hyperpod_cdk.network.section import FULL_ACCESS
from hyperpod_cdk.network.security_group import DefaultSecurityGroup, security_group_of
from hyperpod_cdk.operators.pod_roles import jumpstart_bucket
from hyperpod_cdk.provisioner.provisioner import Provisioner, VpcPlacement
from hyperpod_cdk.synthesis.logs import LogGroups
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_shared.clusters import CONTROLLER
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.orchestration import orchestration_of
from hyperpod_stacks.orchestration.eks import EksOrchestration
from hyperpod_stacks.table import StackKind


class PlatformStack(DeployedStack):
    """VPC, security group, control plane of EKS, lifecycle bucket, execution role, provisioner."""

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config = stacks.config
        # It refuses a chart that cannot be read, before the provisioner takes seconds to bundle.
        self.orchestration = orchestration = orchestration_of(config, chart=stacks.chart)
        FixedValue(
            self,
            "Orchestrator",
            key=("cluster", "orchestrator"),
            value=config.cluster.orchestrator,
            reason="HyperPod moves no cluster from one orchestrator to the other, and the control "
            "plane would go while nodes are there",
            instead="deploy under another name, next to this one",
        )
        log_group_patterns: list[str] = []
        self.keys = data_keys(
            self,
            "EncryptionKey",
            encryption=config.encryption,
            alias=config.name,
            log_groups=log_group_patterns,
            scaled_volumes=bool(config.node_groups),
        )
        self.log_groups = log_groups = LogGroups(
            key=self.keys.logs,
            retention_days=config.log_retention_days,
            patterns=log_group_patterns,
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
            placement=self.in_network if config.provisioner_in_network else None,
            runs_helm=orchestration.runs_helm,
            log_groups=log_groups,
            encryption_key=self.keys.provisioner,
        )
        if self.network.default_security_group_id is not None:
            DefaultSecurityGroup(
                self,
                "DefaultSecurityGroup",
                group_id=self.network.default_security_group_id,
                provisioner=self.provisioner,
            )
        orchestration.add_to_platform(self, self)
        names = {
            **orchestration.platform_outputs,
            **(self._add_for_cluster(stacks) if self.cluster.exists else {}),
            "VpcId": self.network.vpc.vpc_id,
            "SecurityGroupId": self.security_group.security_group_id,
        }
        subnet_ids = self.network.node_subnets.ids
        self.add_outputs(
            {
                **names,
                "PrivateSubnetId": subnet_ids[0],
                # The keys that the public create_config.sh asks for.
                **{f"Output{name}": value for name, value in names.items()},
                "OutputPrivateSubnetIds": cdk.Fn.join(",", subnet_ids),
                "EncryptionKeyArn": self.keys.key_arn,
                **orchestration.further_outputs,
            },
        )
        self.keep_exported(
            *names.values(),
            *subnet_ids,
            self.keys.key_arn,
            self.provisioner.service_token,
            self.provisioner.role.role_name,
            orchestration.token_issuer_url,
        )

    def _add_for_cluster(self, stacks: Stacks) -> dict[str, str]:
        """Add what the nodes of a HyperPod cluster run, and run as; return its outputs."""
        config = stacks.config
        bucket = lifecycle_bucket_of(
            self,
            "LifecycleBucket",
            lifecycle_scripts=config.lifecycle_scripts,
            default_name=f"sagemaker-{config.name}-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}",
            encryption_key=self.keys.lifecycle_bucket,
            access_log_days=config.log_retention_days,
        ).bucket
        project = config.project_scripts
        self.lifecycle_scripts = LifecycleScripts(
            self,
            "LifecycleScripts",
            bucket=bucket,
            provisioner=self.provisioner,
            project=replace(project, directory=stacks.scripts or project.directory),
            prefix=config.scripts_prefix,
            own=config.lifecycle_scripts,
            folders=config.cluster.own_scripts,
            writers=config.lifecycle_scripts.writers,
        )
        nodes = RoleUse(
            orchestrator=self.orchestration.orchestrator,
            vpc=self.network.vpc,
            subnets=self.network.node_subnets,
            security_group=self.security_group,
            lifecycle_scripts=self.lifecycle_scripts,
        )
        outputs = {}
        self.controller_role: iam.IRole | None = None
        controllers = tuple(self.cluster.groups_of_type(CONTROLLER))
        if controllers:
            FixedValue(
                self,
                "ControllerRunsAs",
                key=("cluster", "slurm", "accounting"),
                value="own role" if self.cluster.needs_controller_role else "given role",
                reason="with a database the controller has a role of its own, and HyperPod changes "
                "the role of no group",
                instead="name the role that it runs as in execution_role_arn of its group, and let "
                "that read the secret",
            )
        if self.cluster.needs_controller_role:
            alone = {"instance_groups": controllers, "execution_role_name": None}
            own = self.cluster.model_copy(update=alone)
            role = ExecutionRole(self, "ControllerRole", cluster=own, **nodes).role
            self.controller_role = role
            self.cluster = self.cluster.with_controller_role(role.role_arn)
            outputs["ControllerRoleArn"] = role.role_arn
            self.keep_exported(role.role_name)
        self.execution_role = execution_role_of(
            self, "ExecutionRole", cluster=self.cluster, **nodes
        ).role
        self.keep_exported(self.execution_role.role_name, self.lifecycle_scripts.s3_uri)
        return {
            "S3BucketName": bucket.bucket_name,
            "SageMakerIAMRoleArn": self.execution_role.role_arn,
            **outputs,
        }

    @property
    def eks_cluster(self) -> eks.ICluster:
        """The EKS cluster of a deployment that has one."""
        assert isinstance(self.orchestration, EksOrchestration)  # noqa: S101 - its users are of EKS
        return self.orchestration.cluster

    @property
    @jsii.member(jsii_name="availabilityZones")
    def availability_zones(self) -> list[str]:
        """The zones by name, as in a stack whose account is not known; CDK would look them up."""
        return [cdk.Fn.select(index, cdk.Fn.get_azs()) for index in range(2)]

    def _endpoints(self, config: Config) -> list[Construct]:
        # The section refuses a closed network in a VPC that exists.
        assert isinstance(self.network, Network)  # noqa: S101 - narrows it for mypy
        overrides = [group.override_vpc for group in config.cluster.all_groups]
        models = [jumpstart_bucket(self.region)] if config.operators.s3_csi_driver else []
        return VpcEndpoints(
            self,
            "VpcEndpoints",
            vpc=self.network.vpc,
            subnets=self.network.endpoint_subnets,
            routed_subnets=self.network.node_subnets.subnets,
            services=list(config.endpoint_services),
            s3_endpoint=self.network.s3_endpoint,
            security_group_ids=[
                self.security_group.security_group_id,
                *(name for vpc in overrides if vpc is not None for name in vpc.security_group_ids),
            ],
            data_buckets=[*models, *(each.name for each in config.cluster.data_buckets)],
            full_access=config.network.endpoint_policies == FULL_ACCESS,
        ).endpoints

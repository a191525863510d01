"""What lives for months: network, control plane, bucket, roles, provisioner."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.config import Config
from hyperpod_cdk.eks_cluster import EksCluster, Endpoint, EndpointAccess
from hyperpod_cdk.execution_role import ExecutionRole
from hyperpod_cdk.lifecycle_bucket import LifecycleBucket
from hyperpod_cdk.lifecycle_scripts import LifecycleScripts
from hyperpod_cdk.network import HyperPodSubnet, Network
from hyperpod_cdk.provisioner import Provisioner, VpcPlacement
from hyperpod_cdk.provisioner_access import ProvisionerAccess
from hyperpod_cdk.security_group import ClusterSecurityGroup
from stacks.execution_role_needs import execution_role_needs
from stacks.outputs import add_outputs


class PlatformStack(cdk.Stack):
    """VPC, security group, EKS control plane, lifecycle bucket, execution role, provisioner."""

    def __init__(
        self, scope: Construct, construct_id: str, *, config: Config, **kwargs: Any
    ) -> None:
        super().__init__(scope, construct_id, **kwargs)
        self.network = Network(
            self,
            "Network",
            cidr=config.network.vpc_cidr,
            public_subnet_cidrs=config.network.public_subnet_cidrs,
            eks_subnet_cidrs=config.network.eks_subnet_cidrs,
            availability_zone_ids=config.network.availability_zone_ids,
            hyperpod_subnets=[
                HyperPodSubnet(cidr=subnet.cidr, availability_zone_id=subnet.availability_zone_id)
                for subnet in config.network.hyperpod_subnets
            ],
        )
        self.security_group = ClusterSecurityGroup(
            self, "ClusterSecurityGroup", vpc=self.network.vpc
        ).security_group
        endpoint = Endpoint(
            access=EndpointAccess(config.eks.endpoint_access),
            public_access_cidrs=config.eks.public_access_cidrs,
        )
        eks = EksCluster(
            self,
            "Eks",
            cluster_name=f"{config.name}-eks",
            version=config.eks.version,
            vpc=self.network.vpc,
            subnets=self.network.eks_subnets,
            security_group=self.security_group,
            endpoint=endpoint,
            admins=config.eks.admins,
            secrets_key=self._secrets_key(config.eks.secrets_kms_key_arn),
            deletion_protection=config.eks.deletion_protection,
        )
        self.eks_cluster = eks.cluster
        self.provisioner = Provisioner(
            self,
            "Provisioner",
            placement=None if endpoint.reachable_from_anywhere else self._in_network(),
        )
        ProvisionerAccess(
            self, "ProvisionerAccess", cluster=self.eks_cluster, provisioner=self.provisioner
        )
        bucket = LifecycleBucket(
            self,
            "LifecycleBucket",
            bucket_name=f"sagemaker-{config.name}-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}",
        ).bucket
        self.lifecycle_scripts = LifecycleScripts(
            self, "LifecycleScripts", bucket=bucket, provisioner=self.provisioner
        )
        self.execution_role = ExecutionRole(
            self,
            "ExecutionRole",
            cluster=self.eks_cluster,
            subnets=self.network.hyperpod_subnets,
            security_group=self.security_group,
            bucket=bucket,
            script_keys=self.lifecycle_scripts.keys,
            needs=execution_role_needs(config.cluster),
        ).role
        subnet_ids = [subnet.subnet_id for subnet in self.network.hyperpod_subnets]
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

    def _secrets_key(self, arn: str | None) -> kms.IKey | None:
        return None if arn is None else kms.Key.from_key_arn(self, "SecretsKey", arn)

    def _in_network(self) -> VpcPlacement:
        return VpcPlacement(
            vpc=self.network.vpc,
            subnets=self.network.hyperpod_subnets,
            security_group=self.security_group,
            internet_access=self.network.internet_access,
        )

"""The EKS control plane that orchestrates HyperPod."""

import hashlib
import json
from collections.abc import Sequence
from typing import cast

from aws_cdk import RemovalPolicy, Stack, aws_eks_v2
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.eks.access import ADMIN, Access, access_by_principal
from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.checks import eks_findings
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.synthesis.acknowledge import (
    acknowledge,
    acknowledge_log_groups,
    managed_policy_nag_id,
    skip_checkov,
)
from hyperpod_cdk.synthesis.findings import report
from hyperpod_cdk.synthesis.fixed_value import FixedValue
from hyperpod_cdk.synthesis.template_parameters import in_template

# Their pods are DaemonSets, healthy with no node, so they never hold up the control plane.
_DAEMON_SET_ADDONS = {
    "VpcCni": "vpc-cni",
    "KubeProxy": "kube-proxy",
    "PodIdentityAgent": "eks-pod-identity-agent",
}


class EksCluster(Construct):
    """An EKS control plane without nodes, for HyperPod to add its own.

    Authentication mode is `API`: HyperPod refuses `CONFIG_MAP`, and access entries need no
    `aws-auth`. EKS installs no self-managed add-on; vpc-cni, kube-proxy and
    eks-pod-identity-agent are managed add-ons. CoreDNS needs nodes: `EksAddons` installs it.
    All five control plane log types are on; CloudWatch Logs keeps them for three months, and not
    beyond the cluster.

    Args:
        cluster_name: EKS name, 1 to 100 characters.
        eks: Version, endpoint, access, encryption and protection of the control plane.
        vpc: The VPC.
        subnets: Subnets for the control plane's network interfaces, in two AZs at least.
        security_group: Also carried by nodes, so both sides can talk.

    Attributes:
        cluster: The EKS cluster.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        eks: EksConfig,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        security_group: ec2.ISecurityGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        report(self, eks_findings(eks))
        FixedValue(
            self,
            # With `Secrets` in its name, CloudFormation's rules would take the ARN for one.
            "KmsKeyArn",
            key=("eks", "secrets_kms_key_arn"),
            value=eks.secrets_kms_key_arn,
            reason="the control plane would be replaced",
            instead="encrypt a cluster without a key by `aws eks associate-encryption-config`",
        )
        # jsii leaves the interface's optional members out of the class, so mypy needs the cast.
        self.cluster = cast(
            "aws_eks_v2.ICluster",
            self._control_plane(
                eks,
                cluster_name=cluster_name,
                # By its id alone: the L2 would wait for all that the VPC construct holds, flow log
                # and endpoint included, where the control plane needs no more than its subnets.
                vpc=ec2.Vpc.from_vpc_attributes(
                    self,
                    "VpcById",
                    vpc_id=vpc.vpc_id,
                    availability_zones=vpc.availability_zones,
                ),
                subnets=subnets,
                security_group=security_group,
            ),
        )
        add_addons(self, _DAEMON_SET_ADDONS, cluster=self.cluster, kubernetes_version=eks.version)
        for principal, access in access_by_principal(eks).items():
            self._grant(principal, access)
        acknowledge(self.cluster, _acknowledgments(eks))

    def grant_admin(self, principal_arn: str) -> aws_eks_v2.AccessEntry:
        """Give an IAM principal cluster admin rights through an access entry.

        Args:
            principal_arn: ARN of an IAM role or user; may be a token.
        """
        return self._grant(principal_arn, [ADMIN])

    def _grant(self, principal_arn: str, access: Sequence[Access]) -> aws_eks_v2.AccessEntry:
        # By the principal, not by its place in a list or by what it may: EKS takes a principal
        # once, and CloudFormation creates the entry of a new id before it deletes that of an old
        # one. All are called admins, since the entries that are deployed are.
        name = json.dumps(Stack.of(self).resolve(principal_arn), sort_keys=True)
        construct_id = f"Admin{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        return aws_eks_v2.AccessEntry(
            self,
            construct_id,
            cluster=self.cluster,
            principal=principal_arn,
            access_policies=[_access_policy(each) for each in access],
        )

    def _control_plane(
        self,
        eks: EksConfig,
        *,
        cluster_name: str,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        security_group: ec2.ISecurityGroup,
    ) -> aws_eks_v2.Cluster:
        cluster = aws_eks_v2.Cluster(
            self,
            "Cluster",
            cluster_name=cluster_name,
            version=aws_eks_v2.KubernetesVersion.of(in_template(eks.version)),
            vpc=vpc,
            vpc_subnets=[ec2.SubnetSelection(subnets=list(subnets))],
            security_group=security_group,
            endpoint_access=_endpoint_access(eks),
            # Auto Mode, the default, would add EC2 nodes of its own beside HyperPod's.
            default_capacity_type=aws_eks_v2.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            bootstrap_self_managed_addons=False,
            # The creator is CloudFormation's role; people get access by the section's lists.
            bootstrap_cluster_creator_admin_permissions=False,
            cluster_logging=list(aws_eks_v2.ClusterLoggingTypes),
            secrets_encryption_key=self._secrets_key(eks),
            output_config_command=False,
        )
        cluster.node.add_dependency(self._log_group(cluster_name))
        # An SSM parameter that only CDK's own kubectl constructs wait for.
        cluster.node.try_remove_child("KubectlReadyBarrier")
        if eks.deletion_protection:
            # Not a property of the L2.
            resource = cluster.node.find_child("Resource")
            assert isinstance(resource, aws_eks_v2.CfnCluster)  # noqa: S101 - narrows a CDK child for mypy
            resource.deletion_protection = True
        if eks.secrets_kms_key_arn is None:
            skip_checkov(
                cluster,
                resource_type="AWS::EKS::Cluster",
                reasons={
                    "CKV_AWS_58": (
                        "EKS encrypts all API data with an AWS key; secrets_kms_key_arn adds your "
                        "own."
                    )
                },
            )
        return cluster

    def _log_group(self, cluster_name: str) -> logs.LogGroup:
        log_group = logs.LogGroup(
            self,
            "Logs",
            # EKS writes to the group of this name, and would make it with logs that never expire.
            # https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
            log_group_name=f"/aws/eks/{cluster_name}/cluster",
            retention=logs.RetentionDays.THREE_MONTHS,
            # A group that stayed would keep a deployment of the same name from being made again.
            removal_policy=RemovalPolicy.DESTROY,
        )
        acknowledge_log_groups(log_group)
        return log_group

    def _secrets_key(self, eks: EksConfig) -> kms.IKey | None:
        if eks.secrets_kms_key_arn is None:
            return None
        return kms.Key.from_key_arn(self, "SecretsKey", eks.secrets_kms_key_arn)


def _access_policy(access: Access) -> aws_eks_v2.IAccessPolicy:
    scope = aws_eks_v2.AccessScopeType
    return aws_eks_v2.AccessPolicy.from_access_policy_name(
        access.policy,
        access_scope_type=scope.NAMESPACE if access.namespaces else scope.CLUSTER,
        namespaces=list(access.namespaces) or None,
    )


def _endpoint_access(eks: EksConfig) -> aws_eks_v2.EndpointAccess:
    access = {
        "private": aws_eks_v2.EndpointAccess.PRIVATE,
        "public": aws_eks_v2.EndpointAccess.PUBLIC,
        "public_and_private": aws_eks_v2.EndpointAccess.PUBLIC_AND_PRIVATE,
    }[eks.endpoint_access]
    if eks.endpoint_access == "private" or eks.is_reachable_from_anywhere:
        return access
    return access.only_from(*eks.public_access_cidrs)


def _acknowledgments(eks: EksConfig) -> dict[str, str]:
    reasons = {
        managed_policy_nag_id("AmazonEKSClusterPolicy"): (
            "EKS documents this managed policy as the control plane's, and AWS keeps it."
        )
    }
    if eks.endpoint_access != "private":
        reasons["AwsSolutions-EKS1"] = (
            "The public endpoint is the configured default, open to IAM principals with an access "
            "entry; eks.endpoint_access and eks.public_access_cidrs close it."
        )
    return reasons

"""The EKS control plane that orchestrates HyperPod: one that is made, or one that exists."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import cast

from aws_cdk import ArnFormat, RemovalPolicy, Stack, aws_eks_v2
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from hyperpod_cdk.eks.access import Access, access_by_principal
from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.checks import eks_findings
from hyperpod_cdk.eks.section import DAEMON_SET_ADDONS, EksConfig
from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.logs import OWNED_BY_AWS, LogGroups
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    managed_policy_nag_id,
    skip_checkov,
    statement,
)
from hyperpod_cdk.synthesis.refusals import FixedValue, report
from hyperpod_cdk.synthesis.template_parameters import in_template
from hyperpod_cdk.synthesis.trust import SOURCE_ACCOUNT, limit_trust

# https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html
_NETWORK_POLICIES = {"vpc-cni": {"enableNetworkPolicy": "true"}}


class ControlPlane(Construct):
    """A control plane that nodes and people are let into, new or existing."""

    cluster: aws_eks_v2.ICluster
    before_access: Sequence[IDependable] = ()
    entries: Mapping[str, aws_eks_v2.AccessEntry]

    def _add_addons_and_access(self, eks: EksConfig) -> None:
        # Healthy without a node, so they never hold up the control plane.
        addons = eks.addons_among(DAEMON_SET_ADDONS)
        add_addons(
            self,
            addons,
            cluster=self.cluster,
            kubernetes_version=eks.version,
            configuration=_NETWORK_POLICIES if eks.editors else None,
        )
        self.entries = {
            principal: _add_access_entry(
                self, cluster=self.cluster, principal_arn=principal, access=access
            )
            for principal, access in access_by_principal(eks).items()
        }


class AuthenticationMode(Construct):
    """Lets an EKS cluster know access entries next to its `aws-auth` ConfigMap.

    Changes the mode `CONFIG_MAP` to `API_AND_CONFIG_MAP`, and no other. EKS never goes back, so
    nothing happens when it is deleted.
    https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html

    Args:
        cluster: The EKS cluster.
        provisioner: Changes it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: aws_eks_v2.ICluster,
        provisioner: Provisioner,
    ) -> None:
        super().__init__(scope, construct_id)
        right = statement(
            self,
            sid="SetAuthenticationMode",
            why="It lets the EKS cluster know access entries, which nodes join by.",
            added_by="`eks.set_authentication_mode`",
            actions=["eks:DescribeCluster", "eks:UpdateClusterConfig"],
            resources=[cluster.cluster_arn],
        )
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::EksAuthenticationMode",
            properties={"ClusterName": cluster.cluster_name},
            statements=[right],
        )


class ImportedEksCluster(ControlPlane):
    """An EKS control plane that exists, with the attributes of `EksCluster`.

    Access entries and the add-ons that are asked for are added to it, and go with the deployment.
    Nothing else of it is changed, but its authentication mode by `set_authentication_mode`.

    Args:
        cluster_arn: Its ARN; of this account and region.
        eks: Its version and endpoint as they are, access and add-ons.
        provisioner: Changes the authentication mode.

    Attributes:
        cluster: The EKS cluster.
        before_access: What must exist before the first access entry.
        entries: The access entry of each principal of `eks`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_arn: str,
        eks: EksConfig,
        provisioner: Provisioner,
    ) -> None:
        super().__init__(scope, construct_id)
        report(self, eks_findings(eks))
        arn = Stack.of(self).split_arn(cluster_arn, ArnFormat.SLASH_RESOURCE_NAME)
        self.cluster = aws_eks_v2.Cluster.from_cluster_attributes(
            self, "Cluster", cluster_name=str(arn.resource_name)
        )
        if eks.set_authentication_mode:
            mode = AuthenticationMode(
                scope,
                f"{construct_id}AuthenticationMode",
                cluster=self.cluster,
                provisioner=provisioner,
            )
            self.before_access = (mode,)
            # Whatever is added to this construct, now or later, depends on the mode.
            self.node.add_dependency(mode)
        self._add_addons_and_access(eks)


_ENDPOINT_ACCESS = {
    "private": aws_eks_v2.EndpointAccess.PRIVATE,
    "public": aws_eks_v2.EndpointAccess.PUBLIC,
    "public_and_private": aws_eks_v2.EndpointAccess.PUBLIC_AND_PRIVATE,
}


class EksCluster(ControlPlane):
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
        secrets_key: Encrypts Kubernetes secrets, unless `eks` names a key. Default: a key that AWS
            owns.
        log_groups: How the group of its logs is made. Default: encrypted by AWS, for 90 days.

    Attributes:
        cluster: The EKS cluster.
        before_access: What must exist before the first access entry: nothing.
        entries: The access entry of each principal of `eks`.
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
        secrets_key: kms.IKey | None = None,
        log_groups: LogGroups = OWNED_BY_AWS,
    ) -> None:
        super().__init__(scope, construct_id)
        report(self, eks_findings(eks))
        own_key = eks.secrets_kms_key_arn is not None or secrets_key is None
        FixedValue(
            self,
            # With `Secrets` in its name, CloudFormation's rules would take the ARN for one.
            "KmsKeyArn",
            key=("eks", "secrets_kms_key_arn") if own_key else ("encryption",),
            value=eks.secrets_kms_key_arn or fixed_text(secrets_key),
            reason="the control plane would be replaced",
            instead="encrypt a cluster without a key by `aws eks associate-encryption-config`"
            + ("" if own_key else " and leave it out here by encryption.eks_secrets: false"),
        )
        if eks.secrets_kms_key_arn is not None:
            secrets_key = kms.Key.from_key_arn(self, "SecretsKey", eks.secrets_kms_key_arn)
        cluster = aws_eks_v2.Cluster(
            self,
            "Cluster",
            cluster_name=cluster_name,
            version=aws_eks_v2.KubernetesVersion.of(in_template(eks.version)),
            # By its id alone: the L2 would wait for all that the VPC construct holds, flow log
            # and endpoint included, where the control plane needs no more than its subnets.
            vpc=ec2.Vpc.from_vpc_attributes(
                self, "VpcById", vpc_id=vpc.vpc_id, availability_zones=vpc.availability_zones
            ),
            vpc_subnets=[ec2.SubnetSelection(subnets=list(subnets))],
            security_group=security_group,
            endpoint_access=_ENDPOINT_ACCESS[eks.endpoint_access],
            # Auto Mode, the default, would add EC2 nodes of its own next to HyperPod's.
            default_capacity_type=aws_eks_v2.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            bootstrap_self_managed_addons=False,
            # The creator is CloudFormation's role; people get access by the section's lists.
            bootstrap_cluster_creator_admin_permissions=False,
            cluster_logging=list(aws_eks_v2.ClusterLoggingTypes),
            secrets_encryption_key=secrets_key,
            output_config_command=False,
        )
        cluster.node.add_dependency(self._log_group(cluster_name, log_groups=log_groups))
        # An SSM parameter that only CDK's own kubectl constructs wait for.
        cluster.node.try_remove_child("KubectlReadyBarrier")
        resource = cluster.node.find_child("Resource")
        assert isinstance(resource, aws_eks_v2.CfnCluster)  # noqa: S101 - narrows a CDK child for mypy
        # https://docs.aws.amazon.com/eks/latest/userguide/cross-service-confused-deputy-prevention.html
        limit_trust(cluster.role, SOURCE_ACCOUNT)
        # Not a property of the L2.
        resource.deletion_protection = eks.stated_deletion_protection
        cidrs = eks.stated_public_access_cidrs
        if cidrs is not None:
            # The L2 lists none for a private endpoint, nor for one that is only public.
            resource.add_property_override("ResourcesVpcConfig.PublicAccessCidrs", list(cidrs))
        if secrets_key is None:
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
        # jsii leaves the interface's optional members out of the class, so mypy needs the cast.
        self.cluster = cast("aws_eks_v2.ICluster", cluster)
        self._add_addons_and_access(eks)
        acknowledge(self.cluster, _acknowledgments(eks))

    def _log_group(self, cluster_name: str, *, log_groups: LogGroups) -> logs.LogGroup:
        log_group = log_groups.add(
            self,
            "Logs",
            # EKS writes to the group of this name, and would make it with logs that never expire.
            # https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
            name=f"/aws/eks/{cluster_name}/cluster",
            retention=logs.RetentionDays.THREE_MONTHS,
            # A group that stayed would keep a deployment of the same name from being made again.
            removal_policy=RemovalPolicy.DESTROY,
        )
        log_groups.acknowledge(log_group)
        return log_group


def eks_cluster_of(
    scope: Construct,
    construct_id: str,
    *,
    cluster_name: str,
    eks: EksConfig,
    vpc: ec2.IVpc,
    subnets: Sequence[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
    provisioner: Provisioner,
    secrets_key: kms.IKey | None = None,
    log_groups: LogGroups = OWNED_BY_AWS,
) -> EksCluster | ImportedEksCluster:
    """Return the control plane: one that is made, or the one that `eks` names.

    The arguments are those of both; the provisioner changes the mode of one that exists, if it
    shall.
    """
    FixedValue(
        scope,
        f"{construct_id}Name",
        key=("eks", "cluster_name" if eks.cluster_arn is None else "cluster_arn"),
        value=eks.cluster_arn or eks.cluster_name,
        reason="HyperPod does not move nodes to another control plane",
        instead="deploy under another name",
    )
    if eks.cluster_arn is not None:
        return ImportedEksCluster(
            scope, construct_id, cluster_arn=eks.cluster_arn, eks=eks, provisioner=provisioner
        )
    return EksCluster(
        scope,
        construct_id,
        cluster_name=cluster_name,
        eks=eks,
        vpc=vpc,
        subnets=subnets,
        security_group=security_group,
        secrets_key=secrets_key,
        log_groups=log_groups,
    )


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


def _add_access_entry(
    scope: Construct,
    *,
    cluster: aws_eks_v2.ICluster,
    principal_arn: str,
    access: Sequence[Access],
) -> aws_eks_v2.AccessEntry:
    """Give an IAM principal, whose ARN may be a token, rights through an access entry."""
    # By the principal, not by its place in a list or by what it may: EKS takes a principal
    # once, and CloudFormation creates the entry of a new id before it deletes that of an old
    # one. All are called admins, since the entries that are deployed are.
    name = json.dumps(Stack.of(scope).resolve(principal_arn), sort_keys=True)
    construct_id = f"Admin{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return aws_eks_v2.AccessEntry(
        scope,
        construct_id,
        cluster=cluster,
        principal=principal_arn,
        access_policies=[_access_policy(each) for each in access],
    )


def _access_policy(access: Access) -> aws_eks_v2.IAccessPolicy:
    scope = aws_eks_v2.AccessScopeType
    return aws_eks_v2.AccessPolicy.from_access_policy_name(
        access.policy,
        access_scope_type=scope.NAMESPACE if access.namespaces else scope.CLUSTER,
        namespaces=list(access.namespaces) or None,
    )

"""The EKS control plane that orchestrates HyperPod."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.acknowledge import acknowledge, managed_policy_finding, skip_checkov

# Their pods are DaemonSets, healthy with no node, so they never hold up the control plane.
_DAEMON_SET_ADDONS = {
    "VpcCni": "vpc-cni",
    "KubeProxy": "kube-proxy",
    "PodIdentityAgent": "eks-pod-identity-agent",
}


class EndpointAccess(StrEnum):
    """From where the Kubernetes API answers."""

    PUBLIC = "public"
    PRIVATE = "private"
    PUBLIC_AND_PRIVATE = "public_and_private"


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """How the Kubernetes API can be reached.

    Attributes:
        access: Public, private or both. Default: both; nodes use the private one.
        public_access_cidrs: IPv4 CIDRs that may use the public one. Default: everywhere; requests
            still need IAM credentials with an access entry.
    """

    access: EndpointAccess = EndpointAccess.PUBLIC_AND_PRIVATE
    public_access_cidrs: Sequence[str] = ("0.0.0.0/0",)

    @property
    def reachable_from_anywhere(self) -> bool:
        """Whether a client with an unknown address can connect."""
        return self.access is not EndpointAccess.PRIVATE and "0.0.0.0/0" in self.public_access_cidrs

    def to_eks(self) -> eks.EndpointAccess:
        """Return CDK's own value."""
        if self.access is EndpointAccess.PRIVATE:
            return eks.EndpointAccess.PRIVATE
        base = (
            eks.EndpointAccess.PUBLIC
            if self.access is EndpointAccess.PUBLIC
            else eks.EndpointAccess.PUBLIC_AND_PRIVATE
        )
        if self.reachable_from_anywhere:
            return base
        return base.only_from(*self.public_access_cidrs)


class EksCluster(Construct):
    """An EKS control plane without nodes, for HyperPod to add its own.

    Authentication mode is `API`: HyperPod refuses `CONFIG_MAP`, and access entries need no
    `aws-auth`. EKS installs no self-managed add-on; vpc-cni, kube-proxy and
    eks-pod-identity-agent are managed add-ons. CoreDNS is not installed here: it needs nodes.
    All five control plane log types are on.

    Args:
        cluster_name: EKS name, 1 to 100 characters.
        version: Kubernetes `<major>.<minor>`; HyperPod takes 1.30 to 1.35
            (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html).
        vpc: The VPC.
        subnets: For the control plane's network interfaces, in two AZs at least.
        security_group: Also carried by nodes, so both sides can talk.
        endpoint: Default: public and private, from everywhere.
        admins: IAM principal ARNs that become cluster admins. Default: none.
        secrets_key: Customer key for envelope encryption of Secrets. Default: the AWS owned key
            that encrypts all Kubernetes API data. Cannot be changed later.
        deletion_protection: Refuse to delete the control plane. Default: off.

    Attributes:
        cluster: The EKS cluster.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        version: str,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        security_group: ec2.ISecurityGroup,
        endpoint: Endpoint | None = None,
        admins: Sequence[str] = (),
        secrets_key: kms.IKey | None = None,
        deletion_protection: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        endpoint = endpoint if endpoint is not None else Endpoint()
        cluster = eks.Cluster(
            self,
            "Cluster",
            cluster_name=cluster_name,
            version=eks.KubernetesVersion.of(version),
            # By its id alone: the L2 would wait for all that the VPC construct holds, flow log and
            # endpoint included, where the control plane needs no more than its subnets.
            vpc=ec2.Vpc.from_vpc_attributes(
                self,
                "VpcById",
                vpc_id=vpc.vpc_id,
                availability_zones=vpc.availability_zones,
            ),
            vpc_subnets=[ec2.SubnetSelection(subnets=list(subnets))],
            security_group=security_group,
            endpoint_access=endpoint.to_eks(),
            # Auto Mode, the default, would add EC2 nodes of its own beside HyperPod's.
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            bootstrap_self_managed_addons=False,
            # The creator is CloudFormation's role; people get access by `admins`.
            bootstrap_cluster_creator_admin_permissions=False,
            cluster_logging=list(eks.ClusterLoggingTypes),
            secrets_encryption_key=secrets_key,
            output_config_command=False,
        )
        if secrets_key is None:
            skip_checkov(
                cluster,
                resource_type="AWS::EKS::Cluster",
                reasons={
                    "CKV_AWS_58": (
                        "EKS encrypts all API data with an AWS key; secrets_key adds your own."
                    )
                },
            )
        # An SSM parameter that only CDK's own kubectl constructs wait for.
        cluster.node.try_remove_child("KubectlReadyBarrier")
        if deletion_protection:
            # Not a property of the L2.
            resource = cluster.node.find_child("Resource")
            assert isinstance(resource, eks.CfnCluster)  # noqa: S101 - narrows a CDK child for mypy
            resource.deletion_protection = True
        # jsii leaves the interface's optional members out of the class, so mypy needs the cast.
        self.cluster = cast("eks.ICluster", cluster)
        for construct_name, addon_name in _DAEMON_SET_ADDONS.items():
            eks.Addon(self, construct_name, cluster=self.cluster, addon_name=addon_name)
        for index, principal in enumerate(admins):
            self.grant_admin(f"Admin{index + 1}", principal_arn=principal)
        acknowledge(
            self.cluster,
            {
                managed_policy_finding("AmazonEKSClusterPolicy"): (
                    "EKS documents this managed policy as the control plane's, and AWS keeps it."
                ),
                **(
                    {
                        "AwsSolutions-EKS1": (
                            "The public endpoint is the configured default, open to IAM "
                            "principals with an access entry; eks.endpoint_access and "
                            "eks.public_access_cidrs close it."
                        )
                    }
                    if endpoint.access is not EndpointAccess.PRIVATE
                    else {}
                ),
            },
        )

    def grant_admin(self, construct_id: str, *, principal_arn: str) -> eks.AccessEntry:
        """Give an IAM principal cluster admin rights through an access entry."""
        return eks.AccessEntry(
            self,
            construct_id,
            cluster=self.cluster,
            principal=principal_arn,
            access_policies=[
                eks.AccessPolicy.from_access_policy_name(
                    "AmazonEKSClusterAdminPolicy", access_scope_type=eks.AccessScopeType.CLUSTER
                )
            ],
        )

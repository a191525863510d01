"""Roles that pods have by EKS Pod Identity."""

from aws_cdk import Aws
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct


class PodRole(Construct):
    """A role of the pods of a service account, which need not exist, of one EKS cluster.

    A pod gets it if the association is there before it starts, and the cluster has the add-on
    eks-pod-identity-agent.

    Attributes:
        role: The role.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        namespace: str,
        service_account: str,
        description: str,
    ) -> None:
        super().__init__(scope, construct_id)
        # https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
        own = {"aws:SourceAccount": Aws.ACCOUNT_ID, "aws:SourceArn": cluster.cluster_arn}
        pods = iam.ServicePrincipal("pods.eks.amazonaws.com", conditions={"StringEquals": own})
        self.role = iam.Role(
            self, "Role", description=description, assumed_by=iam.SessionTagsPrincipal(pods)
        )
        # L1: the L2 service account would be made in addition to that of an add-on.
        eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=cluster.cluster_name,
            namespace=namespace,
            service_account=service_account,
            role_arn=self.role.role_arn,
        )

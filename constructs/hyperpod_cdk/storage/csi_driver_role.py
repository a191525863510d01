"""What the FSx CSI driver may do in AWS, where claims get file systems of their own."""

from aws_cdk import Aws, Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    statement,
    wildcard_nag_id,
)

_TAG = "hyperpod-cdk:cluster"
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/charts/aws-fsx-csi-driver/values.yaml
_NAMESPACE, _SERVICE_ACCOUNT = "kube-system", "fsx-csi-controller-sa"


class FsxCsiDriverRole(Construct):
    """The role of the FSx CSI driver's controller, by EKS Pod Identity.

    It creates file systems with a tag of the cluster, and changes and deletes those that have it:
    neither the deployment's own nor those of others.

    Args:
        cluster: The EKS cluster.

    Attributes:
        role: The role.
    """

    def __init__(self, scope: Construct, construct_id: str, *, cluster: eks.ICluster) -> None:
        super().__init__(scope, construct_id)
        name = cluster.cluster_name
        file_systems = Stack.of(self).format_arn(
            service="fsx", resource="file-system", resource_name="*"
        )
        self.role = iam.Role(
            self,
            "Role",
            description="Creates and deletes file systems for claims of the cluster",
            assumed_by=iam.SessionTagsPrincipal(iam.ServicePrincipal("pods.eks.amazonaws.com")),
        )
        statements = [
            statement(
                self,
                sid="CreateFileSystems",
                why="A claim gets a file system, with a tag of the cluster.",
                added_by="`storage.dynamic_provisioning`",
                actions=["fsx:CreateFileSystem", "fsx:TagResource"],
                resources=[file_systems],
                conditions={"StringEquals": {f"aws:RequestTag/{_TAG}": name}},
            ),
            statement(
                self,
                sid="ChangeOwnFileSystems",
                why="It grows and deletes file systems with that tag, no others.",
                added_by="`storage.dynamic_provisioning`",
                actions=["fsx:UpdateFileSystem", "fsx:DeleteFileSystem"],
                resources=[file_systems],
                conditions={"StringEquals": {f"aws:ResourceTag/{_TAG}": name}},
            ),
            statement(
                self,
                sid="DescribeFileSystems",
                why="It waits until a file system can be mounted.",
                added_by="`storage.dynamic_provisioning`",
                actions=["fsx:DescribeFileSystems"],
                resources=["*"],
            ),
            # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonFSxFullAccess.html
            statement(
                self,
                sid="CheckSecurityGroups",
                why="FSx looks at the security group of a new file system.",
                added_by="`storage.dynamic_provisioning`",
                actions=["ec2:GetSecurityGroupsForVpc"],
                resources=["*"],
                conditions={"ForAnyValue:StringEquals": {"aws:CalledVia": "fsx.amazonaws.com"}},
            ),
            # https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html
            statement(
                self,
                sid="CreateServiceLinkedRole",
                why="The first file system of an account makes FSx's role.",
                added_by="`storage.dynamic_provisioning`",
                actions=["iam:CreateServiceLinkedRole"],
                resources=[
                    f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
                    "fsx.amazonaws.com/AWSServiceRoleForAmazonFSx"
                ],
                conditions={"StringEquals": {"iam:AWSServiceName": "fsx.amazonaws.com"}},
            ),
        ]
        policy = iam.Policy(self, "Policy", roles=[self.role], statements=statements)
        acknowledge_inline_policies(policy)
        acknowledge(
            policy,
            {
                wildcard_nag_id(self, file_systems): (
                    "FSx draws the IDs of file systems; a tag of the cluster limits which."
                ),
                wildcard_nag_id(self, "*"): "It only reads, and AWS takes no resource for it.",
            },
        )
        # L1: the L2 service account would be made beside that of the add-on.
        eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=name,
            namespace=_NAMESPACE,
            service_account=_SERVICE_ACCOUNT,
            role_arn=self.role.role_arn,
        )


def provisioned_tag(cluster_name: str) -> str:
    """Return the tag of the file systems that the driver makes, as a StorageClass has it."""
    return f"{_TAG}={cluster_name}"

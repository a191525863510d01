"""The rights that creating, changing and deleting a HyperPod cluster takes."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct


def any_hyperpod_cluster(scope: Construct) -> str:
    """Return the ARN pattern of HyperPod clusters: theirs end in an id drawn at creation."""
    return Stack.of(scope).format_arn(service="sagemaker", resource="cluster", resource_name="*")


def hyperpod_access(scope: Construct, *, execution_role: iam.IRole) -> list[iam.PolicyStatement]:
    """Return the statements of the principal that manages a HyperPod cluster.

    Rights on the EKS cluster are `ProvisionerAccess`'s.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """
    stack = Stack.of(scope)
    return [
        iam.PolicyStatement(
            sid="ManageCluster",
            actions=[
                "sagemaker:AddTags",
                "sagemaker:CreateCluster",
                "sagemaker:DeleteCluster",
                "sagemaker:DeleteTags",
                "sagemaker:DescribeCluster",
                "sagemaker:ListClusterEvents",
                "sagemaker:ListClusterNodes",
                "sagemaker:ListTags",
                "sagemaker:UpdateCluster",
            ],
            resources=[any_hyperpod_cluster(scope)],
        ),
        iam.PolicyStatement(
            sid="PassExecutionRole",
            actions=["iam:PassRole"],
            resources=[execution_role.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        ),
        iam.PolicyStatement(
            sid="FirstUseOfHyperPod",
            actions=["iam:CreateServiceLinkedRole"],
            resources=[
                stack.format_arn(
                    service="iam",
                    region="",
                    resource="role",
                    resource_name=(
                        "aws-service-role/hyperpod.sagemaker.amazonaws.com/"
                        "AWSServiceRoleForSageMakerHyperPod"
                    ),
                )
            ],
            conditions={"StringEquals": {"iam:AWSServiceName": "hyperpod.sagemaker.amazonaws.com"}},
        ),
    ]

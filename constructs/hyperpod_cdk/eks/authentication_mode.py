"""The authentication mode of an existing EKS cluster."""

from aws_cdk import aws_eks_v2
from constructs import Construct

from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.statements import statement


class AuthenticationMode(Construct):
    """Lets an EKS cluster know access entries beside its `aws-auth` ConfigMap.

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
        access = provisioner.grant(
            self,
            "Access",
            statements=[
                statement(
                    self,
                    sid="SetAuthenticationMode",
                    why="It lets the EKS cluster know access entries, which nodes join by.",
                    added_by="`eks.set_authentication_mode`",
                    actions=["eks:DescribeCluster", "eks:UpdateClusterConfig"],
                    resources=[cluster.cluster_arn],
                )
            ],
        )
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::EksAuthenticationMode",
            properties={"ClusterName": cluster.cluster_name},
            depends_on=[access],
        )

"""The IAM role with which HyperPod scales a cluster."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.access import (
    SOURCE_ACCOUNT_IF_SENT,
    any_hyperpod_cluster,
    volume_key_statements,
)
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    statement,
    wildcard_nag_id,
)


class AutoScalingRole(Construct):
    """The role that HyperPod assumes to add and remove nodes as pods need them.

    For clusters of this account and region, and assumed by HyperPod for this account only.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html

    Args:
        volume_key_ids: KMS keys of the nodes' volumes, by ID or ARN. Default: none.

    Attributes:
        role: The role.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, volume_key_ids: Sequence[str] = ()
    ) -> None:
        super().__init__(scope, construct_id)
        clusters = any_hyperpod_cluster(self)
        rights = iam.PolicyDocument(
            statements=[
                statement(
                    self,
                    sid="ScaleClusters",
                    why=(
                        "As AWS documents it. The ARN of a cluster ends in an id that HyperPod "
                        "draws."
                    ),
                    added_by="`cluster.auto_scaling`",
                    actions=["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"],
                    resources=[clusters],
                ),
                *volume_key_statements(self, volume_key_ids),
            ]
        )
        self.role = iam.Role(
            self,
            "Role",
            description="Adds and removes nodes of the HyperPod cluster",
            assumed_by=iam.ServicePrincipal(
                "hyperpod.sagemaker.amazonaws.com",
                conditions=SOURCE_ACCOUNT_IF_SENT,
            ),
            # A child of the role, so that what depends on the role waits for its permissions, too.
            inline_policies={"ScaleClusters": rights},
        )
        acknowledge_inline_policies(self.role)
        acknowledge(
            self,
            {
                wildcard_nag_id(self, clusters): (
                    "A HyperPod cluster's ARN ends in an id that the service draws at creation, "
                    "and the cluster needs this role before it has one."
                )
            },
        )

"""The provisioner's rights on an EKS cluster."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import Aws, Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.reasons import statement

# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
_OF_ADMINS = ("AmazonEKSAdminPolicy", "AmazonEKSClusterAdminPolicy")
NO_ADMIN: Final[Mapping[str, Any]] = {
    "ArnNotEquals": {
        "eks:policyArn": [
            f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{name}" for name in _OF_ADMINS
        ]
    }
}
"""The condition that an access policy is none that makes an admin."""


class ProvisionerAccess(Construct):
    """Lets a provisioner install Helm releases on an EKS cluster and join HyperPod nodes to it.

    Cluster admin through an access entry: charts make CRDs, cluster roles and namespaces. The
    right to manage access entries of this cluster: HyperPod makes the nodes' entries with the
    rights of what creates the HyperPod cluster.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html

    Belongs in the EKS cluster's stack, so that it outlives every release and HyperPod cluster.

    Args:
        cluster: The EKS cluster.
        provisioner: The provisioner.
        joins_hyperpod: Whether HyperPod nodes join. Default: they do.
        depends_on: What must exist before an access entry. Default: nothing.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        joins_hyperpod: bool = True,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        entry = eks.AccessEntry(
            self,
            "ClusterAdmin",
            cluster=cluster,
            principal=provisioner.role.role_arn,
            access_policies=[
                eks.AccessPolicy.from_access_policy_name(
                    "AmazonEKSClusterAdminPolicy", access_scope_type=eks.AccessScopeType.CLUSTER
                )
            ],
        )
        entry.node.add_dependency(*depends_on)
        access_entries = Stack.of(self).format_arn(
            service="eks", resource="access-entry", resource_name=f"{cluster.cluster_name}/*"
        )
        entries = " HyperPod makes the nodes' access entries with its rights."
        policy = provisioner.grant(
            self,
            "AccessEntries",
            statements=[
                statement(
                    self,
                    sid="UseCluster",
                    why="It finds the Kubernetes API"
                    + (f", and{entries}" if joins_hyperpod else "."),
                    actions=[
                        *(["eks:CreateAccessEntry"] if joins_hyperpod else []),
                        "eks:DescribeCluster",
                    ],
                    resources=[cluster.cluster_arn],
                ),
                *(self._of_entries(access_entries) if joins_hyperpod else []),
            ],
        )
        policy.node.add_dependency(entry)

    def _of_entries(self, access_entries: str) -> list[iam.PolicyStatement]:
        drawn = (
            "An access entry's ARN ends in an id that EKS draws; only this cluster's entries match."
        )
        return [
            statement(
                self,
                sid="ManageAccessEntries",
                why="HyperPod looks up and deletes the nodes' access entries with its rights.",
                actions=["eks:DeleteAccessEntry", "eks:DescribeAccessEntry"],
                resources=[access_entries],
                wildcard=drawn,
            ),
            statement(
                self,
                sid="AssociateAccessPolicies",
                why=(
                    "HyperPod fills them. Which access policies it associates is not documented; "
                    "those that make an admin are left out."
                ),
                actions=["eks:AssociateAccessPolicy"],
                resources=[access_entries],
                conditions=NO_ADMIN,
            ),
        ]

"""Access entries: who may use the Kubernetes API."""

import hashlib
import json

from aws_cdk import Stack, aws_eks_v2
from constructs import Construct


def add_admin(
    scope: Construct, *, cluster: aws_eks_v2.ICluster, principal_arn: str
) -> aws_eks_v2.AccessEntry:
    """Give an IAM principal cluster admin rights through an access entry.

    Args:
        scope: Where it is made.
        cluster: The EKS cluster.
        principal_arn: ARN of an IAM role or user; may be a token.
    """
    # By the principal, not by its place in a list: EKS takes a principal once, and
    # CloudFormation creates the entry of a new id before it deletes that of an old one.
    name = json.dumps(Stack.of(scope).resolve(principal_arn), sort_keys=True)
    construct_id = f"Admin{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return aws_eks_v2.AccessEntry(
        scope,
        construct_id,
        cluster=cluster,
        principal=principal_arn,
        access_policies=[
            aws_eks_v2.AccessPolicy.from_access_policy_name(
                "AmazonEKSClusterAdminPolicy",
                access_scope_type=aws_eks_v2.AccessScopeType.CLUSTER,
            )
        ],
    )

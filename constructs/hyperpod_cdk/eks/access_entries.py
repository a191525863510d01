"""Access entries: who may use the Kubernetes API."""

import hashlib
import json
from collections.abc import Sequence

from aws_cdk import Stack, aws_eks_v2
from constructs import Construct

from hyperpod_cdk.eks.access import Access


def add_access_entry(
    scope: Construct,
    *,
    cluster: aws_eks_v2.ICluster,
    principal_arn: str,
    access: Sequence[Access],
) -> aws_eks_v2.AccessEntry:
    """Give an IAM principal rights through an access entry.

    Args:
        scope: Where it is made.
        cluster: The EKS cluster.
        principal_arn: ARN of an IAM role or user; may be a token.
        access: What it may.
    """
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

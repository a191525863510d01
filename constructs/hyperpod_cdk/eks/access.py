"""Who may use the Kubernetes API: access policies for each principal, by access entries."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Stack, aws_eks_v2
from constructs import Construct

from hyperpod_cdk.eks.section import EksConfig

ADMIN_POLICY = "AmazonEKSClusterAdminPolicy"
# It leaves out secrets, which AmazonEKSAdminViewPolicy shows: the tokens in them would make a
# viewer more than that.
# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
_VIEW_POLICY = "AmazonEKSViewPolicy"
_EDIT_POLICY = "AmazonEKSEditPolicy"
# The policy to edit knows no object of a CustomResourceDefinition; this one knows training jobs.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-studio-setup-eks.html
_TRAINING_POLICY = "AmazonSagemakerHyperpodTrainingPolicy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """An access policy, and where it holds.

    Attributes:
        policy: Name of the access policy.
        namespaces: Namespaces, or patterns of them, sorted; none for the whole cluster.
    """

    policy: str
    namespaces: tuple[str, ...] = ()


ADMIN = Access(policy=ADMIN_POLICY)


def access_by_principal(eks: EksConfig) -> Mapping[str, tuple[Access, ...]]:
    """Return what each principal gets, in the order in which the section names them.

    EKS takes a principal once, and a policy once for a principal, so lists that name a principal
    again add namespaces. At most three policies come together, of the 20 that EKS takes
    (https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html).
    """
    namespaces: dict[str, dict[str, set[str]]] = {}
    for arn, policy, where in _grants(eks):
        namespaces.setdefault(arn, {}).setdefault(policy, set()).update(where)
    return {
        arn: tuple(
            Access(policy=policy, namespaces=tuple(sorted(where)))
            for policy, where in sorted(policies.items())
        )
        for arn, policies in namespaces.items()
    }


def _grants(eks: EksConfig) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for arn in eks.admins:
        yield arn, ADMIN_POLICY, ()
    for arn in eks.viewers:
        yield arn, _VIEW_POLICY, ()
    for editors in eks.editors:
        for arn in editors.principals:
            yield arn, _EDIT_POLICY, editors.namespaces
            if editors.training_jobs:
                yield arn, _TRAINING_POLICY, editors.namespaces


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

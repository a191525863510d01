"""Which access policies of EKS each principal gets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hyperpod_cdk.eks.section import EksConfig

ADMIN_POLICY = "AmazonEKSClusterAdminPolicy"
# It leaves out secrets, which AmazonEKSAdminViewPolicy shows: the tokens in them would make a
# viewer more than that.
# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
VIEW_POLICY = "AmazonEKSViewPolicy"
EDIT_POLICY = "AmazonEKSEditPolicy"
# The policy to edit knows no object of a CustomResourceDefinition; this one knows training jobs.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-studio-setup-eks.html
TRAINING_POLICY = "AmazonSagemakerHyperpodTrainingPolicy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """An access policy, and where it holds.

    The namespaces, or patterns of them, are sorted; there are none for the whole cluster.
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
        yield arn, VIEW_POLICY, ()
    for editors in eks.editors:
        for arn in editors.principals:
            yield arn, EDIT_POLICY, editors.namespaces
            if editors.training_jobs:
                yield arn, TRAINING_POLICY, editors.namespaces
        for arn in editors.viewers:
            if arn not in eks.viewers:
                yield arn, VIEW_POLICY, editors.namespaces

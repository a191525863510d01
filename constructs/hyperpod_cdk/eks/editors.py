"""The principals that `eks.editors` lets into namespaces, and what contradicts another list."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import field_validator

from hyperpod_cdk.schema.arns import PrincipalArn
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import Matching
from hyperpod_cdk.schema.section import Listed, Section

# The service accounts of EKS and of HyperPod's dependencies, some with rights on the whole cluster.
_SYSTEM = "kube-system"

EditorsNamespace = Annotated[
    str,
    Matching(
        # https://docs.aws.amazon.com/eks/latest/userguide/access-policies.html
        pattern=r"[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?",
        longest=63,
        rule="must be a namespace, or a pattern of them such as dev-*, of lower-case letters, "
        "digits, inner hyphens and *",
    ),
]


class EditorsConfig(Section):
    """Principals that run jobs in namespaces."""

    namespaces: Listed[EditorsNamespace]
    """Kubernetes namespaces, which need not exist yet; * stands for any characters, as in dev-*.
    Not kube-system, whose service accounts an editor could use."""

    principals: Listed[PrincipalArn]
    """ARNs of IAM roles and users that may change what is in the namespaces, secrets included, but
    for quotas and roles."""

    training_jobs: bool = True
    """Whether they may run the jobs of the training operators too, such as a PyTorchJob, by the
    access policy AmazonSagemakerHyperpodTrainingPolicy. Default: true."""

    @field_validator("namespaces")
    @classmethod
    def _check_namespaces(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        refuse(_namespace_findings(value))
        return value

    @field_validator("principals")
    @classmethod
    def _check_principals(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        refuse([*_missing(value, noun="principal"), *listed_twice(value)])
        return value


def listed_twice(principals: Sequence[str]) -> Iterator[Finding]:
    """Find principals that a list names again."""
    for index, arn in enumerate(principals):
        if arn in principals[:index]:
            message = "is listed twice; EKS takes a principal once"
            yield Finding(path=(index,), value=arn, message=message)


def admin_findings(principals: Sequence[str], *, admins: Sequence[str]) -> Iterator[Finding]:
    """Find principals of a list that are admins anyway."""
    for index, arn in enumerate(principals):
        if arn in admins:
            message = "is in eks.admins, which gives every right; list it in one of the two"
            yield Finding(path=(index,), value=arn, message=message)


def _missing(values: Sequence[str], *, noun: str) -> Iterator[Finding]:
    if not values:
        yield Finding(value=[], message=f"must name one {noun} or more")


def _namespace_findings(namespaces: Sequence[str]) -> Iterator[Finding]:
    yield from _missing(namespaces, noun="namespace")
    for index, namespace in enumerate(namespaces):
        if fnmatchcase(_SYSTEM, namespace):
            message = (
                f"must leave out {_SYSTEM}: an editor may act as its service accounts, and so as "
                "an admin; name other namespaces, or list the principals in eks.admins"
            )
            yield Finding(path=(index,), value=namespace, message=message)
        elif namespace in namespaces[:index]:
            message = "is listed twice; list each namespace once"
            yield Finding(path=(index,), value=namespace, message=message)

"""Statements of IAM policies that say why they are there."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_iam as iam
from constructs import IConstruct

REASON = "hyperpod-cdk:reason"
"""Type of the metadata of a cloud assembly that gives a statement's reason."""


def statement(
    scope: IConstruct,
    *,
    sid: str,
    why: str,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Mapping[str, Any] | None = None,
    added_by: str | None = None,
) -> iam.PolicyStatement:
    """Return a statement that allows something, and record its reason in the cloud assembly.

    docs/security.md is written of these reasons; templates do not have them.

    Args:
        scope: A construct of the policy's stack.
        sid: Name of the statement; a number at its end is not part of it.
        why: Why it is there, in a sentence.
        actions: As in `s3:GetObject`.
        resources: ARNs.
        conditions: Values by operator and condition key. Default: none.
        added_by: Keys of the configuration without which it is not there. Default: none.
    """
    data = {"sid": sid, "why": why, "actions": list(actions), "added_by": added_by}
    scope.node.add_metadata(REASON, data)
    return iam.PolicyStatement(
        sid=sid, actions=list(actions), resources=list(resources), conditions=conditions
    )

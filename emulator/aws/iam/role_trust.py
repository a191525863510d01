"""Whether a role's trust policy lets an AWS service assume it."""

import json
from collections.abc import Mapping
from typing import Any

from emulator.aws.ministack import get_account_id, get_region, iam, iam_evaluator


def role(role_arn: str) -> dict[str, Any] | None:
    """Return the IAM record of a role of the request's account, or None."""
    record: dict[str, Any] | None = iam.roles.get(role_arn.rsplit("/", 1)[-1])
    return record if record is not None and record["Arn"] == role_arn else None


def allows(*, role_arn: str, service: str, sent: Mapping[str, str]) -> bool:
    """Return whether the service may assume the role for a resource of the request's account.

    Args:
        role_arn: ARN of the role.
        service: The service principal, such as `sagemaker.amazonaws.com`.
        sent: The condition keys with which the service says for whom it acts, such as
            `aws:SourceAccount`.
    """
    record = role(role_arn)
    if record is None:
        return False
    document = record["AssumeRolePolicyDocument"]
    policy = json.loads(document) if isinstance(document, str) else document
    statements = policy.get("Statement", [])
    # MiniStack's trust evaluation lets an account's root pass for *any* service principal, so it is
    # given only the statements that name this one.
    named = [
        statement
        for statement in (statements if isinstance(statements, list) else [statements])
        if iam_evaluator.service_principal_matches(statement.get("Principal"), service)
    ]
    account = get_account_id()
    root = f"arn:aws:iam::{account}:root"
    context = iam_evaluator.EvalContext(
        principal_arn=root,
        principal_type="Root",
        principal_account=account,
        action="sts:AssumeRole",
        resource_arn=role_arn,
        region=get_region(),
        secure_transport=True,
        service_context={key.lower(): value for key, value in sent.items()},
    )
    return bool(iam_evaluator.evaluate_trust_policy({"Statement": named}, root, context))


def services(role_arn: str) -> list[str]:
    """Return the services that may assume a role, as the service principals of its trust policy."""
    record = role(role_arn)
    if record is None:
        return []
    document = record["AssumeRolePolicyDocument"]
    policy = json.loads(document) if isinstance(document, str) else document
    named = [statement["Principal"].get("Service", []) for statement in policy["Statement"]]
    return [each for found in named for each in ([found] if isinstance(found, str) else found)]

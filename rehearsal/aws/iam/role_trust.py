"""Whether a role's trust policy lets an AWS service assume it."""

import json
from typing import Any

from ministack.core import iam_evaluator
from ministack.core.responses import get_account_id, get_region
from ministack.services import iam


def role(role_arn: str) -> dict[str, Any] | None:
    """Return the IAM record of a role of the request's account, or None."""
    record: dict[str, Any] | None = iam._roles.get(role_arn.rsplit("/", 1)[-1])
    return record if record is not None and record["Arn"] == role_arn else None


def allows(*, role_arn: str, service: str, source_arn: str = "") -> bool:
    """Return whether the service may assume the role for a resource of the request's account.

    Args:
        role_arn: ARN of the role.
        service: The service principal, such as `sagemaker.amazonaws.com`.
        source_arn: ARN of the resource it acts for, for the condition key aws:SourceArn.
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
        if iam_evaluator._service_principal_matches(statement.get("Principal"), service)
    ]
    account = get_account_id()
    root = f"arn:aws:iam::{account}:root"
    source = {"aws:sourceaccount": account} | ({"aws:sourcearn": source_arn} if source_arn else {})
    context = iam_evaluator.EvalContext(
        principal_arn=root,
        principal_type="Root",
        principal_account=account,
        action="sts:AssumeRole",
        resource_arn=role_arn,
        region=get_region(),
        secure_transport=True,
        service_context=source,
    )
    return bool(iam_evaluator.evaluate_trust_policy({"Statement": named}, root, context))

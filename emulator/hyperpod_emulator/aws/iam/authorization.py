"""What IAM says of a call, of the use of a role, and of a service that assumes it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_emulator.aws.json_service import ServiceError
from hyperpod_emulator.aws.ministack import (
    EvalContext,
    EvalResult,
    app,
    get_account_id,
    get_region,
    iam,
    iam_actions,
    iam_evaluator,
    router,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One thing the caller must be allowed to do."""

    action: str
    resource: str
    context: Mapping[str, str | list[str]] = field(default_factory=dict)


def role(role_arn: str) -> dict[str, Any] | None:
    """Return the IAM record of a role of the request's account, or None."""
    record: dict[str, Any] | None = iam._roles.get(role_arn.rsplit("/", 1)[-1])
    return record if record is not None and record["Arn"] == role_arn else None


def is_missing(principal_arn: str) -> bool:
    """Return whether the ARN is that of a role or user that the request's account does not have."""
    if ":user/" in principal_arn:
        record = iam._users.get(principal_arn.rsplit("/", 1)[-1])
        return record is None or record["Arn"] != principal_arn
    return ":role/" in principal_arn and role(principal_arn) is None


def allows(*, role_arn: str, service: str, sent: Mapping[str, str]) -> bool:
    """Return whether the service may assume the role for a resource of the request's account.

    `sent` are the condition keys with which it says for whom it acts, such as `aws:SourceAccount`.
    """
    # MiniStack's trust evaluation lets an account's root pass for *any* service principal, so it is
    # given only the statements that name this one.
    named = [
        statement
        for statement in _trusting(role_arn)
        if iam_evaluator._service_principal_matches(statement.get("Principal"), service)
    ]
    root = f"arn:aws:iam::{get_account_id()}:root"
    assumption = Permission(action="sts:AssumeRole", resource=role_arn, context=sent)
    context = asked_by(root, "Root", assumption)
    return bool(iam_evaluator.evaluate_trust_policy({"Statement": named}, root, context))


def services(role_arn: str) -> list[str]:
    """Return the services that may assume a role, as the service principals of its trust policy."""
    named = [statement["Principal"].get("Service", []) for statement in _trusting(role_arn)]
    return [each for found in named for each in ([found] if isinstance(found, str) else found)]


def _trusting(role_arn: str) -> list[dict[str, Any]]:
    """Return the statements of a role's trust policy; none if there is no such role."""
    document = (role(role_arn) or {}).get("AssumeRolePolicyDocument", {})
    policy = json.loads(document) if isinstance(document, str) else document
    statements = policy.get("Statement", [])
    return statements if isinstance(statements, list) else [statements]


class AccessDeniedError(ServiceError):
    """AccessDeniedException, in AWS's words."""

    def __init__(self, *, principal_arn: str, action: str, resource: str, explicit: bool) -> None:
        message = iam_actions.identity_denial_message(action, principal_arn, resource, explicit)
        super().__init__("AccessDeniedException", message)


def request_tags(*, service: str, action: str, body: bytes) -> dict[str, Any]:
    """Return the condition keys aws:RequestTag/* and aws:TagKeys of a request."""
    return dict(iam_actions.request_tag_context(service, action, body, {}))


def require_caller(
    *,
    headers: Mapping[str, str],
    action: str,
    resource: str,
    context: Mapping[str, Any] | None = None,
) -> None:
    """Check that the request's caller may do something; always so without AUTH.

    Raises:
        AccessDeniedError: no policy allows it, or one denies it.
        ServiceError: the credentials themselves fail.
    """
    if not app.AUTH:
        return
    denial = iam_evaluator.enforce(
        router.extract_access_key_id(headers, {}),
        action,
        action.partition(":")[0],
        get_region(),
        resource_arn=resource,
        service_context=dict(context or {}),
    )
    if isinstance(denial, iam_evaluator.AuthError):
        raise ServiceError(denial.code, denial.message)
    if denial is not None:
        raise AccessDeniedError(
            principal_arn=denial.principal_arn,
            action=action,
            resource=resource,
            explicit=denial.decision == "Deny",
        )


def role_may(*, role_name: str, permission: Permission) -> bool:
    """Return whether a role of the account (without path), once assumed, may do something."""
    decision = _decision(role_name, session="SageMaker", permission=permission)
    return bool(decision.decision == "Allow")


def rights(role_name: str) -> object:
    """Return something that is another thing once the role's own policies have changed."""
    role = iam._roles.get(role_name) or {}
    attached = [
        (arn, (iam._policies.get(arn) or {}).get("DefaultVersionId"))
        for arn in role.get("AttachedPolicies", ())
    ]
    return attached, dict(role.get("InlinePolicies") or {}), role.get("PermissionsBoundary")


def require_role(*, role_name: str, session: str, permission: Permission) -> None:
    """Check that a role of the request's account (without path), once assumed, may do something.

    Raises:
        AccessDeniedError: no policy allows it, or one denies it.
    """
    decision = _decision(role_name, session=session, permission=permission)
    if decision.decision != "Allow":
        raise AccessDeniedError(
            principal_arn=decision.principal_arn,
            action=permission.action,
            resource=permission.resource,
            explicit=decision.decision == "Deny",
        )


def asked_by(principal: str, kind: str, permission: Permission, **further: str) -> EvalContext:
    """Return what IAM decides about: the use of a permission by a principal of a kind, over TLS."""
    return iam_evaluator.EvalContext(
        principal_arn=principal,
        principal_type=kind,
        principal_account=get_account_id(),
        action=permission.action,
        resource_arn=permission.resource,
        region=get_region(),
        secure_transport=True,
        service_context={key.lower(): value for key, value in permission.context.items()},
        **further,
    )


def asked_by_role(role_name: str, *, session: str, permission: Permission) -> EvalContext:
    """Return the same for a session of a role of the request's account."""
    principal = f"arn:aws:sts::{get_account_id()}:assumed-role/{role_name}/{session}"
    return asked_by(principal, "AssumedRole", permission)


def _decision(role_name: str, *, session: str, permission: Permission) -> EvalResult:
    """Decide as for a request: by the role's policies, its boundary and the resource's policy."""
    account = get_account_id()
    context = asked_by_role(role_name, session=session, permission=permission)
    limits = iam_evaluator._permissions_boundary(iam._roles, role_name, account)
    policies = iam_evaluator._gather_role_policies(role_name, account)
    decision = iam_evaluator.evaluate(context, policies, *limits)
    found = iam_evaluator._resource_policy(permission.action.partition(":")[0], permission.resource)
    if found is not None:
        decision = iam_evaluator.combine_resource_policy(decision, context, *found, limits=limits)
    decision.principal_arn = context.principal_arn
    return decision

"""The simulation of a role's policies.

MiniStack simulates for the first resource alone, and without context:
https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any
from xml.sax.saxutils import escape

from aws_reference.action_resources import forms
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.iam.authorization import Permission
from hyperpod_emulator.aws.ministack import Response, iam, iam_evaluator, wrap

_DECISIONS = {"Allow": "allowed", "Deny": "explicitDeny", "ImplicitDeny": "implicitDeny"}
_BY_RESTRICTION = ("allowed", "implicitDeny", "explicitDeny")


def install() -> None:
    """Answer SimulatePrincipalPolicy for roles."""
    wrap(iam._IAM_HANDLERS, "SimulatePrincipalPolicy", _simulate)


def _simulate(unchecked: Callable[..., Response], parameters: Mapping[str, Any]) -> Response:
    source = iam._p(parameters, "PolicySourceArn")
    if ":role/" not in source:
        return unchecked(parameters)
    name = source.rpartition("/")[2]
    if name not in iam._roles:
        message = f"The role with name {name} cannot be found."
        return iam._error(404, "NoSuchEntity", message, ns="iam")
    results = "".join(_results(parameters, role_arn=source, role_name=name))
    return iam._xml(
        200,
        "SimulatePrincipalPolicyResponse",
        f"<SimulatePrincipalPolicyResult><EvaluationResults>{results}</EvaluationResults>"
        "<IsTruncated>false</IsTruncated></SimulatePrincipalPolicyResult>",
        ns="iam",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Result:
    """What is decided of an action on a resource."""

    resource: str
    decision: str
    missing: frozenset[str]


def _results(parameters: Mapping[str, Any], *, role_arn: str, role_name: str) -> Iterator[str]:
    """Yield one result for each action: the most restrictive decision, and that of each resource.

    https://docs.aws.amazon.com/IAM/latest/APIReference/API_EvaluationResult.html
    """
    resources = [*_members(parameters, "ResourceArns")] or ["*"]
    for action in _members(parameters, "ActionNames"):
        results = [
            _result(parameters, action, resource, role_arn=role_arn, role_name=role_name)
            for resource in resources
        ]
        decision = max((each.decision for each in results), key=_BY_RESTRICTION.index)
        missing = frozenset[str]().union(*(each.missing for each in results))
        specific = "".join(
            f"<member><EvalResourceName>{escape(each.resource)}</EvalResourceName>"
            f"<EvalResourceDecision>{each.decision}</EvalResourceDecision>"
            f"<MatchedStatements></MatchedStatements>{_missing(each.missing)}</member>"
            for each in results
        )
        of_resources = f"<ResourceSpecificResults>{specific}</ResourceSpecificResults>"
        yield (
            f"<member><EvalActionName>{action}</EvalActionName>"
            f"<EvalResourceName>{escape(next(iter(forms(action)), '*'))}</EvalResourceName>"
            f"<EvalDecision>{decision}</EvalDecision><MatchedStatements></MatchedStatements>"
            f"{_missing(missing)}{'' if resources == ['*'] else of_resources}</member>"
        )


def _missing(keys: frozenset[str]) -> str:
    members = "".join(f"<member>{escape(key)}</member>" for key in sorted(keys))
    return f"<MissingContextValues>{members}</MissingContextValues>"


def _result(
    parameters: Mapping[str, Any], action: str, resource: str, *, role_arn: str, role_name: str
) -> _Result:
    known = _context(parameters)
    permission = Permission(action=action, resource=resource, context=known)
    context = authorization.asked_by(role_arn, "AssumedRole", permission, source_ip="127.0.0.1")
    policies = iam_evaluator._gather_role_policies(role_name, context.principal_account)
    return _Result(
        resource=resource,
        decision=_DECISIONS[iam_evaluator.evaluate(context, policies).decision],
        missing=frozenset(_asked(policies, context) - known.keys()),
    )


def _context(parameters: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number in count(1):
        prefix = f"ContextEntries.member.{number}"
        key = iam._p(parameters, f"{prefix}.ContextKeyName")
        if not key:
            return found
        values = [*_members(parameters, f"{prefix}.ContextKeyValues")]
        found[key.lower()] = values[0] if len(values) == 1 else values
    raise AssertionError


def _asked(policies: list[list[Any]], context: Any) -> set[str]:  # noqa: ANN401 - MiniStack's
    """Return the condition keys of the statements for an action and a resource."""
    return {
        key.lower()
        for document in policies
        for statement in document
        if iam_evaluator._action_matches(context.action, statement.actions, statement.not_actions)
        and iam_evaluator._resource_matches(
            context.resource_arn, statement.resources, statement.not_resources
        )
        for keys in statement.conditions.values()
        for key in keys
    }


def _members(parameters: Mapping[str, Any], name: str) -> Iterator[str]:
    for number in count(1):
        value = iam._p(parameters, f"{name}.member.{number}")
        if not value:
            return
        yield value

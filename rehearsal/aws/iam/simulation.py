"""SimulatePrincipalPolicy for each resource, with the caller's context and roles that have a path.

MiniStack looks at the first resource alone, and at no context.
https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any
from xml.sax.saxutils import escape

from ministack.core import iam_evaluator
from ministack.core.responses import get_account_id, get_region
from ministack.services import iam

_DECISIONS = {"Allow": "allowed", "Deny": "explicitDeny", "ImplicitDeny": "implicitDeny"}
_Response = tuple[int, dict[str, str], bytes]


def install() -> None:
    """Answer SimulatePrincipalPolicy for roles."""
    unchecked = iam._IAM_HANDLERS["SimulatePrincipalPolicy"]

    def simulate(parameters: Mapping[str, Any]) -> _Response:
        source = iam._p(parameters, "PolicySourceArn")
        response: _Response
        if ":role/" not in source:
            response = unchecked(parameters)
            return response
        name = source.rpartition("/")[2]
        if name not in iam._roles:
            response = iam._error(
                404, "NoSuchEntity", f"The role with name {name} cannot be found.", ns="iam"
            )
            return response
        results = "".join(_results(parameters, role_arn=source, role_name=name))
        response = iam._xml(
            200,
            "SimulatePrincipalPolicyResponse",
            "<SimulatePrincipalPolicyResult>"
            f"<EvaluationResults>{results}</EvaluationResults>"
            "<IsTruncated>false</IsTruncated></SimulatePrincipalPolicyResult>",
            ns="iam",
        )
        return response

    iam._IAM_HANDLERS["SimulatePrincipalPolicy"] = simulate


def _results(parameters: Mapping[str, Any], *, role_arn: str, role_name: str) -> Iterator[str]:
    account = get_account_id()
    policies = iam_evaluator._gather_role_policies(role_name, account)
    known = _context(parameters)
    for action in _members(parameters, "ActionNames"):
        for resource in [*_members(parameters, "ResourceArns")] or ["*"]:
            context = iam_evaluator.EvalContext(
                principal_arn=role_arn,
                principal_type="AssumedRole",
                principal_account=account,
                action=action,
                resource_arn=resource,
                region=get_region(),
                source_ip="127.0.0.1",
                secure_transport=True,
                service_context=known,
            )
            decision = _DECISIONS[iam_evaluator.evaluate(context, policies).decision]
            missing = "".join(
                f"<member>{escape(key)}</member>"
                for key in sorted(_asked(policies, context) - known.keys())
            )
            yield (
                f"<member><EvalActionName>{action}</EvalActionName>"
                f"<EvalResourceName>{escape(resource)}</EvalResourceName>"
                f"<EvalDecision>{decision}</EvalDecision><MatchedStatements></MatchedStatements>"
                f"<MissingContextValues>{missing}</MissingContextValues></member>"
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

"""What IAM's simulator says of the permissions that a user or a role has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cli.aws.session import AwsClient, listed
from hyperpod_cli.inspect.preflight.validator import as_list


def denied(statement: Mapping[str, Any], iam: AwsClient, *, arn: str) -> list[str]:
    """Return the actions of a statement that a user or role may not do.

    The only action of a statement is for each of its resources. Not every one of several is, so
    one resource on which it is allowed will do. What depends on a condition that cannot be
    known ahead is not judged.
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html
    """
    actions, resources = as_list(statement["Action"]), as_list(statement["Resource"])
    together = [[arn] for arn in resources] if len(actions) == 1 else [resources]
    fine = [
        _allowed(actions, some, iam, arn=arn, context=[*_context(statement)]) for some in together
    ]
    return [action for action in actions if not all(action in allowed for allowed in fine)]


def _allowed(
    actions: Sequence[str],
    resources: Sequence[str],
    iam: AwsClient,
    *,
    arn: str,
    context: Sequence[Mapping[str, Any]],
) -> set[str]:
    # The simulator takes no pattern, but an ARN that matches one.
    arns = [arn if arn == "*" else arn.replace("*", "example") for arn in resources]
    answers = listed(
        iam,
        "simulate_principal_policy",
        "EvaluationResults",
        PolicySourceArn=arn,
        ActionNames=[*actions],
        ResourceArns=arns,
        ContextEntries=[*context],
    )
    return {answer["EvalActionName"] for answer in answers if _is_fine(answer)}


def _is_fine(answer: Mapping[str, Any]) -> bool:
    """Return whether an action is allowed on a resource, or depends on what is not known.

    The decision on an action is the most restrictive of those on its resources, or that on the
    only one:
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_EvaluationResult.html
    """
    of_resources = answer.get("ResourceSpecificResults", ())
    decisions = {answer["EvalDecision"], *(item["EvalResourceDecision"] for item in of_resources)}
    is_open = any(result.get("MissingContextValues") for result in (answer, *of_resources))
    return "allowed" in decisions or is_open


def _context(statement: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a request has of the keys in a statement's conditions.

    One of their values, unless the operator is for sets:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
    """
    for operator, keys in statement.get("Condition", {}).items():
        is_set = operator.startswith(("ForAllValues:", "ForAnyValue:"))
        for key, values in keys.items():
            examples = [value.replace("*", "example") for value in as_list(values)]
            yield {
                "ContextKeyName": key,
                "ContextKeyValues": examples if is_set else examples[:1],
                "ContextKeyType": "stringList" if is_set else "string",
            }

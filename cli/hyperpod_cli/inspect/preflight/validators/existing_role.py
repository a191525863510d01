"""Whether nodes can run as an existing role."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cdk.schema.named_resources import NamedResource
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.iam_principals import principal_problem
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, as_list, validator


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=["iam:GetPolicy", "iam:GetPolicyVersion", "iam:GetRole", "iam:SimulatePrincipalPolicy"],
)
def existing_role(config: Config, target: Target) -> Problems:
    """Your role lacks a permission that nodes need.

    Keys: cluster.execution_role_arn, cluster.instance_groups[].execution_role_arn

    [existing resources](existing-resources.md)
    """
    for arn, (path, groups) in _roles(config).items():
        # `iam_principals` tells what is wrong with the role itself.
        if principal_problem(NamedResource(path=path, kind="role", value=arn), target) is None:
            yield from _missing_rights(config, target, path=path, arn=arn, groups=groups)


def _roles(config: Config) -> Mapping[str, tuple[KeyPath, list[NodeGroupConfig]]]:
    """Return each role with the first key that names it, and the groups whose nodes run as it."""
    roles: dict[str, tuple[KeyPath, list[NodeGroupConfig]]] = {}
    of_cluster = config.cluster.execution_role_arn
    for path, group in config.cluster.groups_with_paths():
        arn, key = group.execution_role_arn, (*path, "execution_role_arn")
        if arn is None and of_cluster is not None:
            arn, key = of_cluster, ("cluster", "execution_role_arn")
        if arn is not None:
            roles.setdefault(arn, (key, []))[1].append(group)
    return roles


def _missing_rights(
    config: Config,
    target: Target,
    *,
    path: KeyPath,
    arn: str,
    groups: Sequence[NodeGroupConfig],
) -> Problems:
    # Only where there is such a role: it takes the CDK, which takes seconds to import.
    from hyperpod_cli.inspect.preflight.node_rights import (  # noqa: PLC0415
        managed_statements,
        needed_statements,
    )

    statements = [
        *managed_statements(target),
        *needed_statements(config, target, groups=groups),
    ]
    for statement in statements:
        missing = _denied(statement, target, arn=arn)
        if not missing:
            continue
        to_add = json.dumps({**statement, "Action": missing})
        message = f"may not {', '.join(missing)}, as nodes do; add to its policies: {to_add}"
        command = (
            f"aws iam simulate-principal-policy --policy-source-arn {arn} "
            f"--action-names {' '.join(missing)}"
        )
        yield error(path, arn, message), command


def _denied(statement: Mapping[str, Any], target: Target, *, arn: str) -> list[str]:
    """Return the actions of a statement that a role may not do.

    The only action of a statement is for each of its resources. Not every one of several is, so
    one resource on which it is allowed will do. What depends on a condition that cannot be
    known ahead is not judged.
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html
    """
    actions, resources = as_list(statement["Action"]), as_list(statement["Resource"])
    together = [[arn] for arn in resources] if len(actions) == 1 else [resources]
    fine = [
        _allowed(actions, some, target, arn=arn, context=[*_context(statement)])
        for some in together
    ]
    return [action for action in actions if not all(action in allowed for allowed in fine)]


def _allowed(
    actions: Sequence[str],
    resources: Sequence[str],
    target: Target,
    *,
    arn: str,
    context: Sequence[Mapping[str, Any]],
) -> set[str]:
    # The simulator takes no pattern, but an ARN that matches one.
    arns = [arn if arn == "*" else arn.replace("*", "example") for arn in resources]
    answers = listed(
        target.client("iam"),
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

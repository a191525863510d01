"""Which statements of a role's policies allowed each call that the role made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emulator.aws.ministack import iam_evaluator

_Statement = Any  # MiniStack's
_Context = Any


class _Policies(list[list[_Statement]]):
    """The policies of a role."""

    def __init__(self, policies: list[list[_Statement]], *, role: str) -> None:
        super().__init__(policies)
        self.role = role


def install(*, file: str) -> None:
    """Write a line into a file for each set of statements that together allowed a role's call.

    Args:
        file: The file; empty for none.
    """
    if not file:
        return
    written: set[str] = set()
    gather: Callable[..., list[list[_Statement]]] = iam_evaluator.gather_role_policies
    evaluate: Callable[..., Any] = iam_evaluator.evaluate

    def gather_role_policies(role_name: str, *account: str) -> _Policies:
        return _Policies(gather(role_name, *account), role=role_name)

    def evaluate_and_note(context: _Context, policies: list[list[_Statement]], *limits: Any) -> Any:  # noqa: ANN401 - MiniStack's result
        result = evaluate(context, policies, *limits)
        if isinstance(policies, _Policies) and result.decision == "Allow":
            line = _line(policies, context)
            if line not in written:
                written.add(line)
                with Path(file).open("a", encoding="utf-8") as log:
                    log.write(f"{line}\n")
        return result

    iam_evaluator.gather_role_policies = gather_role_policies
    iam_evaluator.evaluate = evaluate_and_note


def _line(policies: _Policies, context: _Context) -> str:
    allowing = [
        _described(statement)
        for document in policies
        for statement in document
        if statement.effect == "Allow" and _allows(statement, context)
    ]
    return json.dumps({"role": policies.role, "statements": allowing}, sort_keys=True)


def _allows(statement: _Statement, context: _Context) -> bool:
    return bool(
        iam_evaluator.action_matches(context.action, statement.actions, statement.not_actions)
        and iam_evaluator.resource_matches(
            context.resource_arn, statement.resources, statement.not_resources
        )
        and iam_evaluator.conditions_met(statement.conditions, context)
    )


def _described(statement: _Statement) -> dict[str, Any]:
    return {
        "name": statement.sid or statement.actions[0],
        "actions": statement.actions,
        "resources": statement.resources,
    }

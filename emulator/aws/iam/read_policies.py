"""Policies, each read once: CloudFormation asks what a role may do hundreds of times."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from emulator.aws.ministack import iam_evaluator

_Statements = list[Any]  # MiniStack's
# Of a deployment: a few dozen documents, and some hundred actions against each of their statements.
_DOCUMENTS = 1024
_COMPARISONS = 1 << 17


def install() -> None:
    """Remember what a policy's text says, and which of its actions match; nothing else decides."""
    parse: Callable[[str | dict[str, Any]], _Statements] = iam_evaluator.parse_policy_document
    matches: Callable[[str, list[str], list[str]], bool] = iam_evaluator.action_matches

    @lru_cache(_DOCUMENTS)
    def statements(text: str) -> tuple[Any, ...]:
        return tuple(parse(text))

    @lru_cache(_COMPARISONS)
    def comparison(action: str, actions: tuple[str, ...], others: tuple[str, ...]) -> bool:
        return matches(action, [*actions], [*others])

    def parse_policy_document(document: str | dict[str, Any]) -> _Statements:
        return [*statements(document)] if isinstance(document, str) else parse(document)

    def action_matches(action: str, actions: list[str], others: list[str]) -> bool:
        return comparison(action, tuple(actions), tuple(others))

    iam_evaluator.parse_policy_document = parse_policy_document
    iam_evaluator.action_matches = action_matches

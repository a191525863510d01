"""Which permissions a deployment needs that policies do not give."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cli.terminal.errors import OpsError

Document = Mapping[str, Any]


@dataclass(frozen=True, order=True, slots=True)
class MissingPermission:
    """An action that somebody needs and may not take, on resources of a pattern of ARNs."""

    who: str
    action: str
    resource: str

    def __str__(self) -> str:
        return f"{self.who}: {self.action} on {self.resource}"


def policy(path: Path) -> Document:
    """Return the policy in a file; raise OpsError if there is none."""
    try:
        document = json.loads(given_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise OpsError(f"--policy: {path} cannot be read: {one_line(error)}") from None
    if not isinstance(document, dict) or "Statement" not in document:
        raise OpsError(
            f"--policy: {path} is no IAM policy: it has no Statement; `hyperpod-cdk "
            "deployer-policy` "
            "writes such files"
        )
    return document


def missing(
    needed: Iterable[Document], given: Iterable[Document], *, who: str
) -> list[MissingPermission]:
    """Return what documents of needed permissions allow, and the given policies of `who` do not.

    A pattern is covered by a wider one alone, not by several that cover it together.
    """
    statements = [item for document in given for item in _listed(document.get("Statement"))]
    actions = {
        MissingPermission(who, action, resource)
        for document in needed
        for wanted in _listed(document["Statement"])
        for action in _listed(wanted["Action"])
        for resource in _listed(wanted["Resource"])
        if not _is_allowed(action, resource, wanted.get("Condition", {}), statements)
    }
    return sorted(actions)


def _is_allowed(
    action: str, resource: str, condition: Document, statements: Sequence[Document]
) -> bool:
    def fitting(effect: str) -> Iterator[Document]:
        for item in statements:
            is_meant = item.get("Effect") == effect and _matches(item, "Action", action.lower())
            if is_meant and _matches(item, "Resource", resource):
                yield item

    if any("Condition" not in statement for statement in fitting("Deny")):
        return False
    return any(_is_within(condition, item.get("Condition", {})) for item in fitting("Allow"))


def _matches(statement: Document, member: str, value: str) -> bool:
    """Say whether a statement is about an action or a resource, which may be a pattern itself."""
    fold = str.lower if member == "Action" else str
    if f"Not{member}" in statement:
        patterns = [fold(pattern) for pattern in _listed(statement[f"Not{member}"])]
        return not any(fnmatchcase(value, item) for item in patterns)
    return any(fnmatchcase(value, fold(item)) for item in _listed(statement.get(member)))


def _is_within(wanted: Document, given: Document) -> bool:
    """Say whether all that fulfils a condition fulfils another one, as far as texts tell."""
    return all(
        key in wanted.get(operator, {}) and {*_listed(wanted[operator][key])} <= {*_listed(values)}
        for operator, keys in given.items()
        for key, values in keys.items()
    )


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - JSON
    if value is None:
        return []
    return value if isinstance(value, list) else [value]

"""Policy documents of statements, each within the limit of a managed policy."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperpod_cli.inspect.permissions.needs import Condition, Need

Document = Mapping[str, Any]
Statement = dict[str, Any]

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html: without white space.
DOCUMENT_CHARACTERS = 6144
POLICIES_OF_A_ROLE = 10


def size(document: Document) -> int:
    """Return the characters of a document that count."""
    return len(json.dumps(document, separators=(",", ":")))


def document_of(statements: Iterable[Statement]) -> Document:
    """Return a policy document."""
    return {"Version": "2012-10-17", "Statement": [*statements]}


def statements_of(needs: Iterable[Need]) -> Iterator[Statement]:
    """Yield statements that allow what is needed, one for each set of resources."""
    resources: dict[tuple[str, Condition | None], set[str]] = {}
    for need in needs:
        resources.setdefault((need.action, need.condition), set()).update(need.resources)
    allowed: dict[tuple[tuple[str, ...], str], tuple[set[str], set[str]]] = {}
    for (action, condition), found in resources.items():
        arns = ("*",) if "*" in found else tuple(sorted(found))
        key, equals = condition or ("", ())
        actions, values = allowed.setdefault((arns, key), (set(), set()))
        actions.add(action)
        values.update(equals)
    for (arns, key), (actions, values) in sorted(allowed.items(), key=lambda item: min(item[1][0])):
        statement: Statement = {
            "Effect": "Allow",
            "Action": sorted(actions),
            "Resource": [*arns],
        }
        if key:
            statement["Condition"] = {"StringEquals": {key: sorted(values)}}
        yield statement


def split(statements: Iterable[Statement]) -> list[Document]:
    """Return as few documents as the order of the statements allows."""
    documents: list[list[Statement]] = [[]]
    for statement in statements:
        for part in _parts(statement):
            if size(document_of([*documents[-1], part])) > DOCUMENT_CHARACTERS:
                documents.append([])
            documents[-1].append(part)
    return [document_of(each) for each in documents]


def _parts(statement: Statement) -> Iterator[Statement]:
    """Yield a statement, or the halves of one that is too large by itself."""
    actions = statement["Action"]
    if size(document_of([statement])) <= DOCUMENT_CHARACTERS or len(actions) == 1:
        yield statement
        return
    middle = len(actions) // 2
    for half in (actions[:middle], actions[middle:]):
        yield from _parts({**statement, "Action": half})

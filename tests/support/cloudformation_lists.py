"""CloudFormation's lists of resource types by region, and their schemas, as cfn-lint has them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import cfnlint

_SCHEMAS = Path(cfnlint.__file__).parent / "data" / "schemas"


@cache
def types_of(region: str) -> Mapping[str, str]:
    """Return the file of the schema of each resource type of a region; none of one unknown."""
    path = _SCHEMAS / "providers" / f"{region}.json"
    content: Mapping[str, str] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return content


@cache
def schema(resource_type: str) -> Mapping[str, Any]:
    """Return the schema of a type; empty of a custom resource."""
    name = types_of("us-east-1").get(resource_type)
    if name is None:
        return {}
    content: Mapping[str, Any] = json.loads(
        (_SCHEMAS / "resources" / f"{name}.json").read_text("utf-8")
    )
    return content


def handlers(resource_type: str) -> Mapping[str, set[str]]:
    """Return the IAM actions that each handler of a type takes, by what it does."""
    published = schema(resource_type).get("handlers", {})
    return {name: {*each.get("permissions", ())} for name, each in published.items()}


def handlers_that_call(action: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the type and the actions of each handler whose call an action is, as CreateCluster."""
    call = action.partition(":")[2]
    for operation in _CHANGES:
        if call.startswith(operation):
            for resource_type in _types_named(call.removeprefix(operation)):
                actions = handlers(resource_type).get(operation.lower(), set())
                if action in actions:
                    yield resource_type, actions


_CHANGES = ("Create", "Update", "Delete")


@cache
def _types_named(kind: str) -> Sequence[str]:
    return [each for each in types_of("us-east-1") if each.rpartition("::")[2] == kind]

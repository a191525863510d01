"""CloudFormation's lists of resource types by region, and their schemas, as cfn-lint has them."""

import json
from collections.abc import Mapping
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


def handler_permissions(resource_type: str) -> set[str]:
    """Return the IAM actions that the handlers of a type take."""
    handlers = schema(resource_type).get("handlers", {}).values()
    return {action for each in handlers for action in each.get("permissions", ())}

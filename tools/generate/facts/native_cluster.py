"""Write constructs/hyperpod_cdk/facts/native_cluster.json from CloudFormation's resource schemas.

The package reads the file, not cfn-lint, which is a tool of the tests.
"""

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cfnlint

from tools.generate import REPOSITORY

TARGET = REPOSITORY / "constructs" / "hyperpod_cdk" / "facts" / "native_cluster.json"
TYPE = "AWS::SageMaker::Cluster"

_SCHEMAS = Path(cfnlint.__file__).parent / "data" / "schemas"
_REFERENCE = "#/definitions/"


def schemas_by_region(resource_type: str) -> Mapping[str, str]:
    """Return the name of a type's schema in each region whose CloudFormation has the type."""
    return {
        path.stem: found
        for path in sorted((_SCHEMAS / "providers").glob("*.json"))
        if (found := json.loads(path.read_text("utf-8")).get(resource_type)) is not None
    }


def render() -> Mapping[Path, str]:
    """Return the file as the installed cfn-lint gives it; it has no place for a second schema."""
    files = schemas_by_region(TYPE)
    if len(set(files.values())) != 1:
        raise ValueError(f"{TYPE}: the regions have {len(set(files.values()))} schemas")
    (name,) = set(files.values())
    schema = json.loads((_SCHEMAS / "resources" / f"{name}.json").read_text("utf-8"))
    read_only = {pointer.rpartition("/")[2] for pointer in schema["readOnlyProperties"]}
    content = {
        "cfn_lint": importlib.metadata.version("cfn-lint"),
        "regions": sorted(files),
        "type": _compact(schema, schema["definitions"], read_only),
    }
    return {TARGET: json.dumps(content, indent=1, sort_keys=True) + "\n"}


def _compact(
    node: Mapping[str, Any], definitions: Mapping[str, Any], read_only: set[str]
) -> dict[str, Any]:
    """Return what a value may be: members, items, allowed texts or a pattern; else anything."""
    if "$ref" in node:
        node = definitions[node["$ref"].removeprefix(_REFERENCE)]
    kept = {key: node[key] for key in ("enum", "pattern") if key in node}
    if "items" in node:
        kept["items"] = _compact(node["items"], definitions, read_only)
    alternatives = [node, *node.get("oneOf", ())]
    members = {
        name: _compact(member, definitions, read_only)
        for each in alternatives
        for name, member in each.get("properties", {}).items()
        if name not in read_only
    }
    if members or _is_closed(node):
        kept["properties"] = members
    return kept


def _is_closed(node: Mapping[str, Any]) -> bool:
    return node.get("additionalProperties") is False and "patternProperties" not in node

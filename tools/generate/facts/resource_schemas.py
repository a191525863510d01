"""Write what is used of CloudFormation's resource schemas, as the installed cfn-lint has them.

The library and the local AWS read the files: cfn-lint is in neither's environment.
"""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cfnlint

from aws_reference.resource_schemas import DATA_FILE
from hyperpod_cdk.facts.instance_types import regions_known
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES, STACK
from tools.generate import REPOSITORY
from tools.json_text import json_text

REGION = "us-east-1"
CLUSTER = "AWS::SageMaker::Cluster"
# What the local AWS and the deployer's policy read; a key that a schema lacks is left out.
KEYS = (
    "additionalIdentifiers",
    "conditionalCreateOnlyProperties",
    "createOnlyProperties",
    "primaryIdentifier",
    "readOnlyProperties",
    "replacementStrategy",
    "required",
)
_FACTS = REPOSITORY / "constructs" / "hyperpod_cdk" / "facts"
_SCHEMAS = Path(cfnlint.__file__).parent / "data" / "schemas"
_REFERENCE = "#/definitions/"

Json = Mapping[str, Any]


def render() -> Mapping[Path, str]:
    """Return the files.

    Raises:
        ValueError: Regions have different schemas of the cluster, which the file has no place for.
    """
    regions = {path.stem: _read(path) for path in sorted((_SCHEMAS / "providers").glob("*.json"))}
    of_clusters = {name: found[CLUSTER] for name, found in regions.items() if CLUSTER in found}
    schemas = {*of_clusters.values()}
    if len(schemas) != 1:
        raise ValueError(f"{CLUSTER}: the regions have {len(schemas)} schemas")
    (schema,) = schemas
    published = [name for name in RESOURCE_TYPES if name.startswith("AWS::") and name != STACK]
    contents: Mapping[Path, Json] = {
        _FACTS / "native_cluster.json": {"type": _values(_schema(schema))},
        _FACTS / "regional_types.json": {
            "types": {
                name: [region for region, found in regions.items() if name in found]
                for name in published
                if any(name not in regions[region] for region in regions_known() & regions.keys())
            }
        },
        DATA_FILE: {
            "schema_date": _read(_SCHEMAS / "version.json")["schema_date"],
            "types": {name: _handled(_schema(regions[REGION][name])) for name in published},
        },
    }
    source = {"cfn_lint": version("cfn-lint")}
    return {
        path: json_text({**source, **content}, sort_keys=True) for path, content in contents.items()
    }


def _read(path: Path) -> Json:
    content: Json = json.loads(path.read_text("utf-8"))
    return content


def _schema(name: str) -> Json:
    return _read(_SCHEMAS / "resources" / f"{name}.json")


def _handled(schema: Json) -> Json:
    """Return what a type's handlers are permitted, and how its properties are changed."""
    tagging = schema.get("tagging", {})
    tag_property = tagging.get("tagProperty")
    return {
        **{key: schema[key] for key in KEYS if key in schema},
        **({"tagProperty": tag_property} if tag_property else {}),
        **({"systemTags": True} if tagging.get("cloudFormationSystemTags") else {}),
        "properties": sorted(schema["properties"]),
        "permissions": {
            handler: sorted(set(definition.get("permissions", ())))
            for handler, definition in schema.get("handlers", {}).items()
        },
    }


def _values(schema: Json) -> Json:
    """Return what the values of a type may be: members, items, allowed texts or a pattern."""
    read_only = {pointer.rpartition("/")[2] for pointer in schema["readOnlyProperties"]}

    def compact(node: Json) -> Json:
        if "$ref" in node:
            node = schema["definitions"][node["$ref"].removeprefix(_REFERENCE)]
        kept = {key: node[key] for key in ("enum", "pattern") if key in node}
        if "items" in node:
            kept["items"] = compact(node["items"])
        members = {
            name: compact(member)
            for each in (node, *node.get("oneOf", ()))
            for name, member in each.get("properties", {}).items()
            if name not in read_only
        }
        is_closed = node.get("additionalProperties") is False and "patternProperties" not in node
        return {**kept, "properties": members} if members or is_closed else kept

    return compact(schema)

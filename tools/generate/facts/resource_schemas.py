"""Write aws_reference/resource_schemas.json from CloudFormation's resource schemas.

The local AWS reads the file, not cfn-lint, which is not in its environment.
"""

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cfnlint

from aws_reference.resource_schemas import DATA_FILE
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES, STACK

REGION = "us-east-1"

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


def render() -> Mapping[Path, str]:
    """Return the file as the installed cfn-lint gives it."""
    root = Path(cfnlint.__file__).parent / "data" / "schemas"
    files = json.loads((root / "providers" / f"{REGION}.json").read_text("utf-8"))
    published = [name for name in RESOURCE_TYPES if name.startswith("AWS::") and name != STACK]
    types = {name: _compact(root / "resources" / f"{files[name]}.json") for name in published}
    content = {
        "cfn_lint": importlib.metadata.version("cfn-lint"),
        "schema_date": json.loads((root / "version.json").read_text("utf-8"))["schema_date"],
        "types": types,
    }
    return {DATA_FILE: json.dumps(content, indent=1, sort_keys=True) + "\n"}


def _compact(file: Path) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
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

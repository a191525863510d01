"""Write docs/configuration.md, the table of every configuration key.

Run it after changing the configuration's model: `python -m scripts.generate.config_reference`.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.generate.config_schema import schema

TARGET = Path(__file__).parents[2] / "docs" / "configuration.md"

_MOST_VALUES_SHOWN = 8
_HEADER = """# Configuration

One YAML file describes a deployment; `config/default.yaml` is a commented one. Choose another with
`make deploy CONFIG=config/mine.yaml`.

Unknown keys, wrong types and values that AWS would refuse are reported before anything is deployed,
one line each: file, key, value, rule. Editors check and complete the files through
`config/schema.json`, which also lists every instance type. This page is generated from the model.

## Keys to set first

Start with these; every key is described below.

"""

_FIRST_KEYS = (
    "name",
    "region",
    "network.availability_zone_ids",
    "network.hyperpod_subnets[].availability_zone_id",
    "eks.version",
    "eks.admins",
    "eks.public_access_cidrs",
    "storage",
    "storage.capacity_gib",
    "cluster.name",
    "cluster.instance_groups[].name",
    "cluster.instance_groups[].instance_type",
    "cluster.instance_groups[].instance_count",
    "cluster.instance_groups[].volume_size_gib",
    "cluster.instance_groups[].training_plan_arn",
    "cluster.node_provisioning_mode",
)
_TABLE = ("| key | type | default | meaning |", "|---|---|---|---|")


def render() -> str:
    """Return the page's text as the model gives it.

    Raises:
        KeyError: A key to set first is not in the model.
    """
    document = schema()
    sections = list(_sections(document, node=document, title="Top level", path=""))
    rows = {
        f"{title.strip('`')}.{name}".removeprefix("Top level."): _row(document, node, name)
        for title, node in sections
        for name in node["properties"]
    }
    lines = [*_TABLE, *(f"| `{key}` {rows[key]}" for key in _FIRST_KEYS)]
    for title, node in sections:
        lines.append(f"\n## {title}\n")
        description = node.get("description")
        if title != "Top level" and description:
            lines.append(f"{description}\n")
        lines += [
            *_TABLE,
            *(f"| `{name}` {_row(document, node, name)}" for name in node["properties"]),
        ]
    return _HEADER + "\n".join(lines) + "\n"


def _row(document: Mapping[str, Any], node: Mapping[str, Any], name: str) -> str:
    """Return a key's line of the table, from the second column on."""
    field = node["properties"][name]
    default = "required" if name in node.get("required", []) else _default(field)
    meaning = field.get("description", _resolved(document, field).get("description", ""))
    return f"| {_escaped(_type(document, field))} | {_escaped(default)} | {_escaped(meaning)} |"


def _sections(
    document: Mapping[str, Any], *, node: Mapping[str, Any], title: str, path: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield title, node
    for name, field in node["properties"].items():
        inner = _section(document, field)
        if inner is not None:
            suffix = "[]" if _is_list(field) else ""
            key = f"{path}{name}{suffix}"
            yield from _sections(document, node=inner, title=f"`{key}`", path=f"{key}.")


def _section(document: Mapping[str, Any], field: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for option in (field, *field.get("anyOf", ())):
        for candidate in (option, option.get("items", {})):
            resolved = _resolved(document, candidate)
            if "properties" in resolved:
                return resolved
    return None


def _is_list(field: Mapping[str, Any]) -> bool:
    return any("items" in option for option in (field, *field.get("anyOf", ())))


def _resolved(document: Mapping[str, Any], field: Mapping[str, Any]) -> Mapping[str, Any]:
    name = field.get("$ref", "").rpartition("/")[2]
    resolved: Mapping[str, Any] = document["$defs"][name] if name else field
    return resolved


def _type(document: Mapping[str, Any], field: Mapping[str, Any]) -> str:
    field = _resolved(document, field)
    if "anyOf" in field:
        return " or ".join(_type(document, option) for option in field["anyOf"])
    if "enum" in field:
        values = [str(value) for value in field["enum"]]
        return " \\| ".join(values) if len(values) <= _MOST_VALUES_SHOWN else "one of a list"
    match field.get("type"):
        case "array":
            return f"list of {_type(document, field['items'])}"
        case "object":
            return "section" if "properties" in field else "mapping"
        case None:
            return "any"
        case kind:
            return str(kind)


def _default(field: Mapping[str, Any]) -> str:
    default = field.get("default")
    if isinstance(default, Mapping) and default:
        return "see below"
    return "none" if default in (None, [], {}) else f"`{json.dumps(default)}`"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("\\\\|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")

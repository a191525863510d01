"""Write docs/configuration.md: the keys of each section."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

from pydantic.fields import FieldInfo

from hyperpod_cdk import Config, PipelineFile
from hyperpod_cdk.schema.section import Section, section_in
from tools.generate import REPOSITORY
from tools.generate.pages.config_schema import schema

TARGET = REPOSITORY / "docs" / "configuration.md"

_MOST_VALUES_SHOWN = 8
# Sections with so few keys in common list them all the same.
_FEW_KEYS = 4
_TOP = "Top level"
_HEADER = """# Configuration

One YAML file describes a deployment. `config/default.yaml` is an example with comments; use another
file with `hyperpod-cdk deploy config/mine.yaml`. To find the keys for a task, see
[recipes.md](recipes.md).

Unknown keys, wrong types and values that AWS would reject are reported before anything is deployed,
one line each: file, key, value, rule. Editors check and complete the files with
`config/schema.json`, which also lists every instance type.

Behind a key are its type and its default, if it has one. A type names null only where it means
something else than leaving the key out. Your own file does not inherit what `config/default.yaml`
sets.
"""

_PIPELINE = """
## Pipeline

A separate file describes a pipeline and the environments that it deploys:
[pipeline.md](pipeline.md) and `config/pipeline/pipeline.yaml`. Its schema is
`config/pipeline-schema.json`."""

_DEFAULT = re.compile(r"\s*\bDefault: (?P<default>.+)$")
# What is said of a key after its default.
_AFTER_DEFAULT = re.compile(r"(?<=[a-z0-9])\. (?=[A-Z])")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Section:
    """A section, with its JSON schema, and where it stands; the first of these is its heading."""

    paths: list[str]
    node: Mapping[str, Any]


def render() -> Mapping[Path, str]:
    """Return the page as the model gives it."""
    return {TARGET: _HEADER + "\n".join(_lines()) + "\n"}


def keys() -> frozenset[str]:
    """Return the path of every key, such as `cluster.instance_groups[].name`."""
    return _keys(_sections(schema()))


def _keys(sections: Sequence[_Section]) -> frozenset[str]:
    return frozenset(
        joined(path, name)
        for section in sections
        for path in section.paths
        for name in section.node["properties"]
    )


def _lines() -> Iterator[str]:
    document = schema()
    sections = _sections(document)
    yield from _lists(document, sections)
    pipeline = schema(PipelineFile)
    _, *below = _sections(pipeline)
    yield _PIPELINE
    yield from _lists(pipeline, below)


def fields(section: type[Section] = Config, *, path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield the path of every key, and its field."""
    for name, field in section.model_fields.items():
        key = joined(path, name)
        yield key, field
        inner = section_in(field.annotation)
        if inner is not None:
            is_list = get_origin(field.annotation) is tuple
            yield from fields(inner, path=f"{key}[]" if is_list else key)


def _headings(sections: Sequence[_Section]) -> dict[str, str]:
    """Return the heading of the section at each path."""
    return {path: section.paths[0] for section in sections for path in section.paths}


def _lists(document: Mapping[str, Any], sections: Sequence[_Section]) -> Iterator[str]:
    """Yield each section, with the list of its keys."""
    headings = _headings(sections)
    written: dict[str, dict[str, str]] = {}
    for section in sections:
        heading = section.paths[0]
        yield f"\n## {f'`{heading}`' if heading else _TOP}\n"
        if heading:
            yield f"{section.node['description']}\n"
        if len(section.paths) > 1:
            yield f"The same: {', '.join(f'`{path}`' for path in section.paths[1:])}.\n"
        rows = {
            name: f"- `{name}` {_row(document, section, name, headings=headings)}"
            for name in section.node["properties"]
        }
        for other, known_rows in written.items():
            same = [name for name, row in rows.items() if known_rows.get(name) == row]
            if len(same) > _FEW_KEYS:
                listed = ", ".join(f"`{name}`" for name in same)
                yield f"As in [`{other}`](#{_anchor(other)}): {listed}.\n"
                rows = {name: row for name, row in rows.items() if name not in same}
        written[heading] = rows
        yield from rows.values()


def _row(
    document: Mapping[str, Any], section: _Section, name: str, *, headings: Mapping[str, str]
) -> str:
    """Return what is said of a key: its type, its default and its meaning."""
    field = section.node["properties"][name]
    kind = _type(document, field)
    if field.get("default", ...) is None:
        kind = kind.removesuffix(" or null")
    inner = inner_section(document, field)
    if inner is not None:
        key = joined(section.paths[0], name) + ("[]" if is_list(field) else "")
        kind = kind.replace("section", f"[section](#{_anchor(headings[key])})")
    said = field.get("description", _resolved(document, field).get("description", ""))
    meaning, default = _divided(said)
    if name in section.node.get("required", ()):
        kind += ", required"
    else:
        default = default or _default(field)
        kind += f"; default: {default}" if default != "none" else ""
    return " ".join(f"({kind}): {meaning}".split())


def _divided(description: str) -> tuple[str, str | None]:
    """Divide a description into the meaning of a key, and its default where one is described."""
    found = _DEFAULT.search(description)
    if found is None:
        return description, None
    default, *after = _AFTER_DEFAULT.split(found["default"], maxsplit=1)
    return " ".join([description[: found.start()], *after]).strip(), default.removesuffix(".")


def _sections(document: Mapping[str, Any]) -> list[_Section]:
    """Return each section once, in the order in which the page shows them."""
    found: dict[int, _Section] = {}
    for path, node in places(document, node=document):
        found.setdefault(id(node), _Section(paths=[], node=node)).paths.append(path)
    return list(found.values())


def places(
    document: Mapping[str, Any], *, node: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the path of a section and of each below it, and its node of the JSON schema."""
    yield path, node
    for name, field in node["properties"].items():
        inner = inner_section(document, field)
        if inner is not None:
            key = joined(path, name) + ("[]" if is_list(field) else "")
            yield from places(document, node=inner, path=key)


def joined(path: str, name: str) -> str:
    """Return the path of a key of a section."""
    return f"{path}.{name}" if path else name


def _anchor(heading: str) -> str:
    """Return what GitHub calls a heading in a link."""
    return re.sub(r"[^a-z0-9_ -]", "", (heading or _TOP).lower()).replace(" ", "-")


def inner_section(
    document: Mapping[str, Any], field: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return the section that a field has, or a list of them; None for another one."""
    for option in (field, *field.get("anyOf", ())):
        for candidate in (option, option.get("items", {})):
            resolved = _resolved(document, candidate)
            if "properties" in resolved:
                return resolved
    return None


def is_list(field: Mapping[str, Any]) -> bool:
    """Tell whether a field has a list."""
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
        return ", ".join(values) if len(values) <= _MOST_VALUES_SHOWN else "one of a list"
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
        return "the defaults of its keys"
    return "none" if default in (None, [], {}) else f"`{json.dumps(default)}`"

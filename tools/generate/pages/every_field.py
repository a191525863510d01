"""Complete tests/support/every_field.yaml, a configuration with every key, from the examples."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.schema.section import EKS, OrchestratedBy, arguments
from tools.generate import REPOSITORY
from tools.generate.pages.config_reference import fields, inner_section, is_list, joined, places
from tools.generate.pages.config_schema import schema

TARGET = REPOSITORY / "tests" / "support" / "every_field.yaml"
# Keys that name what exists, which exclude those of what is made.
_BESIDE = (TARGET.with_name("every_existing_resource.yaml"), "config/examples/existing-eks.yaml")
# Keys that are there because both kinds of group share a section, which the checks refuse, and what
# would refuse many others, or is not for a HyperPod cluster.
_REFUSED = {
    "operators.cluster_autoscaler",
    "cluster.orchestrator",
    "cluster.restricted_instance_groups.ebs_volumes.kms_key_id",
    "cluster.restricted_instance_groups.ebs_volumes.root_volume",
}

Json = Mapping[str, Any]


def render() -> Mapping[Path, str]:
    """Return the file with each key that it lacks, as its field's example or its type has it."""
    text, document = TARGET.read_text("utf-8"), schema()
    known = {key for path in _BESIDE for key in _used(_loaded(REPOSITORY / path))} | _REFUSED
    found = {*_used(yaml.safe_load(text))}
    # The first file system has the keys of the further ones; some of them exclude each other.
    known |= {key.replace("storage.more_file_systems.", "storage.") for key in found}
    # Those that clusters of EKS do not have.
    others = tuple(
        f"{key.replace('[]', '')}."
        for key, field in fields()
        for mark in (*field.metadata, *arguments(field.annotation))
        if isinstance(mark, OrchestratedBy) and mark.orchestrator != EKS
    )
    for key, field in _keys(document):
        if key not in known | found and not f"{key}.".startswith(others):
            text = _with(text, key, _example(document, field, key=key))
            found = {*_used(yaml.safe_load(text))}
    return {TARGET: text}


def _loaded(path: Path) -> object:
    return yaml.safe_load(path.read_text("utf-8"))


def _keys(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield every key with its field; lists add nothing to a path."""
    for path, section in places(document, node=document):
        for name, field in section["properties"].items():
            yield joined(path, name).replace("[]", ""), field


def _used(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _used(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}{key}"
            yield from _used(item, f"{path}{key}.")


def _example(document: Json, field: Json, *, key: str) -> object:
    """Return a value for a field: its first example, or one of its type that is not the default."""
    for each in (field, *field.get("anyOf", ())):
        if each.get("examples"):
            return each["examples"][0]
        if each.get("items", {}).get("examples"):
            return [each["items"]["examples"][0]]
        if "enum" in each:
            others = [value for value in each["enum"] if value != field.get("default")]
            return (others or each["enum"])[0]
        if each.get("type") == "boolean":
            return not field.get("default")
        if each.get("type") == "integer":
            return max(each.get("minimum", 0), 0) + each.get("multipleOf", 1)
    section = inner_section(document, field)
    if section is not None:
        # Its other keys follow one by one.
        fields = section["properties"]
        needed = section.get("required") or [*fields][:1]
        value = {name: _example(document, fields[name], key=f"{key}.{name}") for name in needed}
        return [value] if is_list(field) else value
    raise LookupError(f"{key}: its field has no example; add one: Field(examples=[...])")


def _with(text: str, key: str, value: object) -> str:
    """Return a YAML text with a key more, in the first section that may have it."""
    *parents, name = key.split(".")
    written = f"{name}: {json.dumps(value)}"
    if not parents:
        return f"{text.rstrip()}\n\n{written}\n"
    node: Any = yaml.compose(text)
    for parent in parents:
        (node,) = (inner for outer, inner in node.value if outer.value == parent)
        while isinstance(node, yaml.SequenceNode):
            node = node.value[0]
    at = node.start_mark.index
    if node.flow_style:
        return f"{text[: at + 1]}{written}, {text[at + 1 :]}"
    return f"{text[:at]}{written}\n{' ' * node.start_mark.column}{text[at:]}"

"""The switches of a configuration: keys, and the values of each that matter.

They are those of the schema (both of a boolean, each of few choices, the examples of a field, null)
and those that the shipped configurations have. Of values of the same form, one stands for all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.configs import CONFIGS
from tools.generate import REPOSITORY
from tools.generate.pages.config_reference import inner_section
from tools.generate.pages.config_schema import schema

Key = tuple[str, ...]
"""The path of a key from the top of a configuration."""
Json = Mapping[str, Any]

LEFT_OUT = ...
CONFIGURATIONS = REPOSITORY / "config"
_REGION = "us-west-2"
# What tells deployments apart, and what names zones of its own.
_NO_SWITCHES = {"name", "region", "cluster.name"}
_ZONES = ("availability_zone_ids", "hyperpod_subnets")
_FEW_CHOICES = 4
_INSTANCE_TYPE = re.compile(r"(?:ml\.)?([a-z0-9-]+)\.\d*x?large")


@cache
def base() -> dict[str, Any]:
    """Return the configuration with no switch set: the zones and groups of the default one."""
    default = _read(CONFIGURATIONS / "default.yaml")
    return {
        "name": "pair",
        "region": _REGION,
        "network": {name: default["network"][name] for name in _ZONES},
        "cluster": {"instance_groups": default["cluster"]["instance_groups"]},
    }


@cache
def switches() -> dict[Key, list[Any]]:
    """Return the values of each switch, without the one that it has in `base`."""
    found = {key: _values(key, field) for key, field in _fields(schema())}
    return {key: values for key, values in found.items() if values}


def value_at(document: object, key: Key) -> Any:  # noqa: ANN401 - any value of YAML
    """Return the value of a key; LEFT_OUT if there is none."""
    for name in key:
        document = document.get(name, LEFT_OUT) if isinstance(document, dict) else LEFT_OUT
    return document


def _fields(document: Json) -> Iterator[tuple[Key, Json]]:
    """Yield the keys of each section; one that is off by default is a key itself."""
    for name, field in document["properties"].items():
        section = inner_section(document, field)
        if name in _NO_SWITCHES:
            continue
        if section is None or field.get("default", ...) in (None, []):
            yield (name,), field
            continue
        if {"type": "null"} in field.get("anyOf", ()):
            yield (name,), {"type": "null"}
        for key, inner in section["properties"].items():
            if f"{name}.{key}" not in _NO_SWITCHES:
                yield (name, key), inner


def _values(key: Key, field: Json) -> list[Any]:
    options = field.get("anyOf", [field])
    kinds = {option.get("type") for option in options}
    choices = [choice for option in options for choice in option.get("enum", ())]
    default, in_base = field.get("default", {}), value_at(base(), key)
    unset = default if in_base is LEFT_OUT else in_base
    if "boolean" in kinds:
        values: list[Any] = [True, False]
    elif choices:
        values = choices if len(choices) <= _FEW_CHOICES else choices[-1:]
    else:
        values = [*_examples(field)]
        if kinds - {"integer", "null"}:
            shipped = [value_at(each, key) for each in _shipped()]
            values += _with_news(
                [value for value in shipped if isinstance(value, list)], beginning=unset
            )
            values += [value for value in shipped if not isinstance(value, list)]
        if "array" in kinds and default:
            values.append([])
    if "null" in kinds:
        values.append(None)
    if "default" in field:
        values.append(default)
    of_forms: dict[object, Any] = {}
    for value in values:
        if value not in (unset, LEFT_OUT):
            of_forms.setdefault(_form(value, choices), value)
    return [*of_forms.values()]


def _with_news(lists: Iterable[list[Any]], *, beginning: object) -> Iterator[list[Any]]:
    """Yield the lists, the shortest first, with a key or a kind that none before them has."""
    known = {*_leaves(beginning, ())}
    for value in sorted(lists, key=lambda value: len(set(_leaves(value, ())))):
        leaves = set(_leaves(value, ()))
        if not leaves <= known:
            known |= leaves
            yield value


def _examples(field: Json) -> Iterator[Any]:
    for option in (field, *field.get("anyOf", ())):
        yield from option.get("examples", ())
        yield from ([example] for example in option.get("items", {}).get("examples", ()))


def _form(value: object, choices: Sequence[object]) -> object:
    """Return what values have in common of which one stands for all.

    It is the keys in a value, whatever their order and number, each with the kind of its value.
    """
    if isinstance(value, dict | list):
        return frozenset(_leaves(value, ()))
    is_text = isinstance(value, str) and value not in choices
    return "text" if is_text else repr(value)


def _leaves(value: object, path: Key) -> Iterator[tuple[Key, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
        if len(value) > 1 and isinstance(value[0], dict):
            yield (*path, "and more"), ""
    elif isinstance(value, str):
        found = _INSTANCE_TYPE.fullmatch(value)
        # Zones by ID and by name differ, and so do domains with a pattern.
        words = "" if path else re.sub(r"\w+", "w", value)
        yield path, found[1] if found else words
    else:
        yield path, repr(value) if isinstance(value, bool | None) else "number"


@cache
def _shipped() -> list[dict[str, Any]]:
    found = [_read(path) for path in CONFIGS]
    return [document for document in found if document["region"] == _REGION]


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return document

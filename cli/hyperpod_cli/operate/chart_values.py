"""What helm says of values that a chart does not take, in the words of the configuration."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.schema.limits import nearest_name

_PLACE = re.compile(r"^Error: (execution error at \(.*?\): )?(values don't meet .*?\w+: )?")
_UNPARSED = re.compile(r"failed parsing --set data: (.*)")
_ENTRY = re.compile(r"- at '(.*?)': (.*?)(?= - at '|$)")
_UNKNOWN = re.compile(r"additional properties (.*) not allowed")
_UNITS = {"imum": "", "Length": " characters", "Items": " items"}


def problems(error: str, *, chart: Path, where: Callable[[str], str]) -> Iterator[str]:
    """Yield a line for each thing that helm refuses.

    `error` is what it printed, in one line; `where` says where the user has given a key, such as
    `claim.name`.
    """
    why = _PLACE.sub("", error)
    unparsed = _UNPARSED.fullmatch(why)
    if unparsed:
        yield f"--set: {unparsed[1]}; write KEY=VALUE"
        return
    entries = _ENTRY.findall(why)
    if not entries:
        yield f"values: {why}"
    for path, what in entries:
        keys = path.split("/")[1:]
        unknown = _UNKNOWN.fullmatch(what)
        if unknown:
            for key in re.findall(r"'(.*?)'", unknown[1]):
                yield f"{where('.'.join([*keys, key]))}: {_not_a_key(chart, keys, key)}"
        elif not what.startswith("invalid propertyName"):
            # Of a key that is none, helm does not say where it is.
            key = ".".join(keys) or what.split("'")[1]
            yield f"{where(key)}: {_worded(what)}{_example(chart, keys)}"


def _worded(what: str) -> str:
    if match := re.fullmatch(r"('.*') does not match pattern '(.*)'", what):
        return f"{match[1]} must match {match[2]}".replace("\\\\", "\\")
    if match := re.fullmatch(r"(min|max)(\w+): got (\S+), want (\S+)", what):
        end = "more" if match[1] == "min" else "less"
        return f"{match[3]}{_UNITS[match[2]]} must be {match[4]} or {end}"
    if match := re.fullmatch(r"got (.*), want (.*)", what):
        return f"{match[1]} must be {match[2]}"
    return what


def _schema(chart: Path, keys: list[str]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads((chart / "values.schema.json").read_text("utf-8"))
    for key in keys:
        schema = schema.get("properties", {}).get(key, {})
    return schema


def _example(chart: Path, keys: list[str]) -> str:
    examples = _schema(chart, keys).get("examples", ())
    return f", such as {examples[0]}" if examples else ""


def _not_a_key(chart: Path, keys: list[str], key: str) -> str:
    here = list(_schema(chart, keys)["properties"])
    values = yaml.safe_load((chart / "values.yaml").read_text("utf-8"))
    paths = dict(_leaves(values)) | {name: ".".join([*keys, name]) for name in here}
    name = nearest_name(key, known=paths)
    hint = f"; did you mean {paths[name]}?" if name else ""
    return f"{key!r} is not a key here{hint} (keys: {', '.join(here)})"


def _leaves(values: Mapping[str, Any], *above: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        yield key, ".".join([*above, key])
        if isinstance(value, dict):
            yield from _leaves(value, *above, key)

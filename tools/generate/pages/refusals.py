"""Write docs/refusals.md: by key, what refuses values; and by file, what it refuses."""

import inspect
import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import AfterValidator

from hyperpod_cdk import Config
from hyperpod_cdk.schema.named_resources import Names
from hyperpod_cdk.schema.section import OfHyperPod, OrchestratedBy, Section, arguments, section_in
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from tests.constructs.checks.test_checks import CASES
from tools.generate import REPOSITORY
from tools.generate.marks import table
from tools.generate.pages.config_reference import fields, inner_section, places
from tools.generate.pages.config_schema import schema

TARGET = REPOSITORY / "docs" / "refusals.md"
_TEMPLATES = REPOSITORY / "tests" / "snapshot" / "__snapshots__" / "test_templates"
_HEADER = """# What is refused, by key

For each key of which a value may be refused: by what. [Below](#what-each-file-refuses) is what each
file refuses. To add a check, look here first whether there is one.

| refused by | when |
|---|---|
| a limit: range, pattern, length, ... | the file is read; `config/schema.json` has the limits |
| `section.py`, or a file in `schema` | the file is read: the value, or several keys of a section |
| a file in `checks`, "only", "elsewhere" | the configuration is complete; some warn |
| a file in `validators` | `hyperpod-cdk preflight`, by what the account has; some warn |
| fixed | CloudFormation begins: the key cannot be changed once it is deployed |

"""
_PLACES_OF_MARKS = {
    Names: "constructs/hyperpod_cdk/config/places.py",
    OrchestratedBy: "constructs/hyperpod_cdk/checks/orchestrator_keys.py",
    OfHyperPod: "constructs/hyperpod_cdk/checks/orchestrator_keys.py",
}
# Words of JSON Schema that narrow a type.
_LIMITS = {
    "enum": "not listed",
    "const": "not listed",
    "pattern": "pattern",
    "minimum": "range",
    "maximum": "range",
    "minLength": "length",
    "maxLength": "length",
    "minItems": "number of entries",
    "maxItems": "number of entries",
    "uniqueItems": "listed twice",
}
Function = Callable[..., object]
_TYPE, _FIXED = "type", "fixed"
Refusal = tuple[str, str]
"""When a value is refused, and by what: a type, a fixed value, or a file."""


def render() -> Mapping[Path, str]:
    """Return the page."""
    order = {key.replace("[]", ""): number for number, (key, _) in enumerate(fields())}
    found: dict[str, dict[Refusal, None]] = {}
    for source in (_types(), _functions(), _marks(), _rules(), _validators(), _fixed_values()):
        for key, refusal in source:
            found.setdefault(_key(key, order), {})[refusal] = None
    # Keys of a section of which the same is refused share a row.
    rows: dict[tuple[str, tuple[Refusal, ...]], list[str]] = {}
    for key in sorted(found, key=lambda each: (order.get(each, -1), each)):
        rows.setdefault((key.partition(".")[0], tuple(found[key])), []).append(key)
    by_key = table(
        ("key", "refused by"),
        (
            (
                ", ".join(f"`{key}`" if key else "the file" for key in keys),
                "<br>".join(dict.fromkeys(_shown(*each) for each in refusals)),
            )
            for (_, refusals), keys in rows.items()
        ),
    )
    files: dict[str, dict[str, None]] = {}
    for when, by in (refusal for refusals in found.values() for refusal in refusals):
        if by not in (_TYPE, _FIXED, *_PLACES_OF_MARKS.values()):
            files.setdefault(by, {})[when] = None
    by_file = "".join(f"- {_link(file)}: {'; '.join(files[file])}\n" for file in sorted(files))
    return {TARGET: f"{_HEADER}{by_key}\n## What each file refuses\n\n{by_file}"}


def _shown(when: str, by: str) -> str:
    """Return what refuses a key, as its row has it."""
    if by == _TYPE:
        return when
    if by == _FIXED:
        return by
    return _link(by, text=when if by in _PLACES_OF_MARKS.values() else None)


def _key(place: str, known: Container[str]) -> str:
    """Return the key that a place is at, or within; entries of a list are at the list's."""
    key = re.sub(r"\[\d*\]", "", place.partition("['")[0]).removesuffix(".*").strip(".*")
    while key and key not in known:
        key = key.rpartition(".")[0]
    return key


def _types() -> Iterator[tuple[str, Refusal]]:
    """Yield the limits of the types, as the JSON schema has them."""
    document = schema()
    for path, node in places(document, node=document):
        for name, field in node["properties"].items():
            if inner_section(document, field) is None:
                limits = dict.fromkeys(_LIMITS[each] for each in _words(document, field))
                if limits:
                    yield f"{path}.{name}", (", ".join(limits), _TYPE)


def _words(document: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of JSON Schema that limit a value, or the entries of a list."""
    if "$ref" in node:
        node = document["$defs"][node["$ref"].rpartition("/")[2]]
    yield from (word for word in _LIMITS if word in node)
    for option in (*node.get("anyOf", ()), *([node["items"]] if "items" in node else ())):
        yield from _words(document, option)


def _functions() -> Iterator[tuple[str, Refusal]]:
    """Yield the functions of fields, and what sections find in their keys together."""
    for key, field in fields():
        marks = [*field.metadata, *arguments(field.annotation)]
        for mark in marks:
            if isinstance(mark, AfterValidator):
                yield key, _by(_judge(mark.func))
    for path, section in _sections():
        for name, decorator in section.__pydantic_decorators__.field_validators.items():
            for field_name in decorator.info.fields:
                yield f"{path}.{field_name}", _by(getattr(section, name))
        for part in section.__mro__:
            if "_findings" in vars(part) and part is not Section:
                yield path, ("keys that contradict each other", _by(vars(part)["_findings"])[1])


def _sections() -> Iterator[tuple[str, type[Section]]]:
    yield "", Config
    for key, field in fields():
        inner = section_in(field.annotation)
        if inner is not None:
            yield key, inner


def _judge(function: Any) -> Function:  # noqa: ANN401 - a function, or what wraps one
    """Return the function that judges a value, which `judged` and `partial` wrap."""
    if isinstance(function, partial):
        return function.func
    found: Function = inspect.getclosurevars(function).nonlocals.get("find", function)
    return _judge(found) if isinstance(found, partial) else found


def _marks() -> Iterator[tuple[str, Refusal]]:
    for key, field in fields():
        marks = (*field.metadata, *arguments(field.annotation))
        for mark in marks:
            match mark:
                case Names() if "arn" in repr(marks).lower():  # an ID names no place
                    when = f"{mark.kind} elsewhere"
                case OrchestratedBy():
                    when = f"{mark.orchestrator} only"
                case OfHyperPod():
                    when = "HyperPod only"
                case _:
                    continue
            yield key, (when, _PLACES_OF_MARKS[type(mark)])


def _rules() -> Iterator[tuple[str, Refusal]]:
    """Yield the rules, at the keys that their cases expect a finding at."""
    for case in CASES:
        when, by = _by(case.rule)
        # What a mark says is at every key that has it.
        if by not in _PLACES_OF_MARKS.values():
            yield from ((path, (when, by)) for _, path in case.expected)


def _validators() -> Iterator[tuple[str, Refusal]]:
    for validator in VALIDATORS.values():
        for key in validator.keys or ([] if validator.names else [""]):
            yield key, _by(validator.function)
        for key, field in fields():
            marks = (*field.metadata, *arguments(field.annotation))
            if any(isinstance(each, Names) and each.kind in validator.names for each in marks):
                yield key, _by(validator.function)


def _fixed_values() -> Iterator[tuple[str, Refusal]]:
    """Yield the keys of the rules of the templates."""
    for path in sorted(_TEMPLATES.glob("*.json")):
        for text in re.findall(
            r'"AssertDescription": "([^" ]+): .*cannot be changed', path.read_text("utf-8")
        ):
            yield text, ("", _FIXED)


def _by(function: Function) -> Refusal:
    """Return what a function refuses, as its docstring begins, and its file."""
    doc = " ".join((inspect.getdoc(function) or "").split())
    words = doc.removeprefix("Find ")
    found = re.match(r"(?:\S+ ){3,}?\S+?(?=[,:;.] |\.$)", words)
    words = words if found is None else found[0]
    file = Path(inspect.getsourcefile(inspect.unwrap(function)) or "").relative_to(REPOSITORY)
    return words or f"`{function.__name__}`", str(file)


def _link(path: str, *, text: str | None = None) -> str:
    """Return a link to a file: a check or a validator from its folder's name on."""
    [name] = re.findall(r"(?:checks|validators)/.+|(?<=/)[^/]+/[^/]+$", path)
    return f"[{text or name}](../{path})"

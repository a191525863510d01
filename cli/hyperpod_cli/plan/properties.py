"""Each value of a template that changes, as a person reads it: pure."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from hyperpod_cli.aws.assembly import CDK_METADATA, construct_paths, text

_SECTIONS = ("Parameters", "Mappings", "Conditions", "Rules", "Outputs")
# A function of CloudFormation is one value.
_FUNCTION = re.compile(r"Ref|Condition|Fn::\w+")
_NOT_COMPARED = ("Metadata", "Type")


def property_lines(former: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Yield the resources that change, and the values of those that stay; then other sections."""
    before, after = (each.get("Resources", {}) for each in (former, wanted))
    names = {
        name: path
        for each in (former, wanted)
        if each
        for name, path in construct_paths(each).items()
    }
    for logical_id in {**before, **after}:
        was, now = before.get(logical_id, {}), after.get(logical_id, {})
        kind = now.get("Type", was.get("Type"))
        if was == now or kind == CDK_METADATA:
            continue
        sign = "-" if not now else "~" if was else "+"
        changed = [*_changed(was, now)] if was and now else []
        if sign != "~" or changed:
            yield f"{sign} {names.get(logical_id, logical_id)} ({kind})"
            yield from (f"    {line}" for line in changed)
    for section in _SECTIONS:
        changed = [*_changed(former.get(section, {}), wanted.get(section, {}))]
        if changed:
            yield section
            yield from (f"    {line}" for line in changed)


def _changed(former: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    before, after = dict(_values(former, "")), dict(_values(wanted, ""))
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            yield f"{key}: {before.get(key, '(none)')} -> {after.get(key, '(none)')}"


def _values(value: Any, key: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Yield each single value by the keys to it; those in a text of JSON, too."""
    if isinstance(value, dict) and len(value) == 1 and _FUNCTION.fullmatch(next(iter(value))):
        value = text(value)
    if isinstance(value, str) and value[:1] in ("{", "["):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, dict) and value:
        for name, item in value.items():
            if key or name not in _NOT_COMPARED:
                inner = name if key in ("", "Properties") else f"{key}.{name}"
                yield from _values(item, inner)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _values(item, f"{key}[{index}]")
    else:
        yield key, str(value)

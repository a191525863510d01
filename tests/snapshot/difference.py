"""How the templates of one configuration differ from those of another, as JSON to be read."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.types import SerializableData, SerializedData

from tools.json_text import json_text

Templates = Mapping[str, dict[str, Any]]
"""The template of each stack, by the stack's name."""
_RULE_ID = re.compile(r"(<name>platformClusterSecurityGroup)[0-9A-F]{8}(\w*?)[0-9A-F]{8}\b")
_FUNCTION = re.compile(r"(<name>(?:-platform-|platform)Provisioner-?)[0-9A-F]{8}")


class ShortJson(JSONSnapshotExtension):
    """A file of JSON in which what fits into a line stands in one."""

    def serialize(self, data: SerializableData, **which: Any) -> SerializedData:
        """Return the text to keep."""
        return json_text(json.loads(super().serialize(data, **which)))


def without_name(templates: Templates, name: str) -> Templates:
    """Return templates with `<name>` in place of their deployment's name.

    The hashes that CDK makes of the name, in the ids of a security group's rules and the names of
    the provisioner's functions, are left out.
    """
    text = re.sub(rf"(?<![\w.]){re.escape(name)}(?=-)", "<name>", json.dumps(templates))
    text = re.sub(rf"{name.replace('-', '')}(?=platform[A-Z])", "<name>", text)
    text = _RULE_ID.sub(r"\1\2", text)
    result: Templates = json.loads(_FUNCTION.sub(r"\1", text))
    return result


def difference(before: Templates, after: Templates) -> dict[str, object]:
    """Return what only one of two sets of templates holds: `- path` the first, `+ path` the second.

    Of a stack or resource that only the first holds, ids or the type say enough. Numbers in a path
    are indices in the list of the same side.
    """
    found: dict[str, object] = {}
    for sign, path, value in _changes("", before, after):
        match sign, path.split("/"), value:
            case "-", [_], {"Resources": dict(resources)}:
                found[f"- {path}"] = sorted(resources)
            case "-", [_, "Resources", _], {"Type": kind}:
                found[f"- {path}"] = kind
            case _:
                found[f"{sign} {path}"] = value
    return found


def _changes(path: str, before: object, after: object) -> Iterator[tuple[str, str, object]]:
    if before == after:
        return
    match before, after:
        # Below a section of a template: two intrinsic functions have nothing in common.
        case dict(), dict() if path.count("/") < 2 or before.keys() & after.keys():
            for key in sorted(before.keys() | after.keys()):
                inner = f"{path}/{key}".removeprefix("/")
                if key not in after:
                    yield "-", inner, before[key]
                elif key not in before:
                    yield "+", inner, after[key]
                else:
                    yield from _changes(inner, before[key], after[key])
        case list(), list():
            yield from _list_changes(path, before, after)
        case _:
            yield "-", path, before
            yield "+", path, after


def _list_changes(
    path: str, before: Sequence[object], after: Sequence[object]
) -> Iterator[tuple[str, str, object]]:
    old, new = ([json.dumps(each, sort_keys=True) for each in items] for items in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        for i, j in zip_longest(range(start, end), range(new_start, new_end)):
            if i == j:
                yield from _changes(f"{path}/{i}", before[i], after[j])
                continue
            if i is not None:
                yield "-", f"{path}/{i}", before[i]
            if j is not None:
                yield "+", f"{path}/{j}", after[j]

"""Edits of a configuration: some of its switches get the values of another one.

The switches, and the values that matter of each, are those in which the rows of `pairs.jsonl`
differ.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.schema.errors import key_path
from hyperpod_rehearsal.pairs import ROWS

Document = Mapping[str, Any]
Key = tuple[str, ...]
"""A section, or a section and a key of it."""
ACCOUNT = "111122223333"
"""The account of the ARNs in rows."""
_ABSENT = ...
# They tell deployments apart.
_KEPT = {("name",), ("region",), ("cluster", "name")}
_SWITCHES_AT_ONCE = (1, 1, 2, 3, 5)
_DRAWS = 40
_BACK, _WHOLE, _SELDOM = 0.25, 0.35, 0.06
_ELSEWHERE = "eu-west-1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A changed configuration, and the lines that say what is changed."""

    document: Document
    lines: tuple[str, ...]


def rows(account: str) -> list[Document]:
    """Return the configurations in which every two values of switches meet."""
    text = ROWS.read_text("utf-8").replace(ACCOUNT, account)
    return [json.loads(line) for line in text.splitlines()]


def settings(document: Document) -> dict[Key, Any]:
    """Return the values of a configuration by key; a section that is off or empty is one."""
    found: dict[Key, Any] = {}
    for section, value in document.items():
        if isinstance(value, Mapping) and value:
            found |= {(section, key): each for key, each in value.items()}
        else:
            found[section,] = value
    return found


def differing(before: Document, after: Document) -> dict[Key, Any]:
    """Return the values that another configuration has otherwise; `...` for one that it lacks."""
    was, becomes = settings(before), settings(after)
    return {
        key: becomes.get(key, _ABSENT)
        for key in sorted(was.keys() | becomes.keys())
        if was.get(key, _ABSENT) != becomes.get(key, _ABSENT)
    }


def edited(document: Document, changes: Mapping[Key, Any]) -> dict[str, Any]:
    """Return a configuration with other values."""
    found = {**copy.deepcopy(document)}
    for (section, *names), value in changes.items():
        place, name = found, section
        if names:
            if not isinstance(found.get(section), dict):
                if value is _ABSENT:  # the section is off
                    continue
                found[section] = {}
            place, name = found[section], names[0]
        if value is _ABSENT:
            place.pop(name, None)
        else:
            place[name] = copy.deepcopy(value)
    # A section without keys is on; here, they have been taken away.
    emptied = {section for (section, *names), value in changes.items() if names} - {
        section for (section, *_), value in changes.items() if value is not _ABSENT
    }
    return {key: value for key, value in found.items() if value != {} or key not in emptied}


def lines_of(before: Document, after: Document) -> tuple[str, ...]:
    """Return what changes, a line for each key."""
    was, shown = settings(before), []
    for key, value in differing(before, after).items():
        shown.append(f"{key_path(key)}: {_shown(was.get(key, _ABSENT))} -> {_shown(value)}")
    return tuple(shown)


def _shown(value: object) -> str:
    return "(not set)" if value is _ABSENT else json.dumps(value)


def edit_of(
    document: Document,
    *,
    random: Random,
    former: Iterable[Document],
    targets: list[Document],
    is_valid: Callable[[Document], bool],
) -> Edit:
    """Return an edit toward a row, or back toward a former configuration; mostly a valid one."""
    found: Document = document
    kept = [each for each in former if differing(document, each)]
    if not kept or random.random() > _BACK:
        kept = targets
    for _ in range(_DRAWS):
        found = _drawn(document, toward=random.choice(kept), random=random)
        if random.random() < _SELDOM or is_valid(found):
            break
    return Edit(document=found, lines=lines_of(document, found))


def _drawn(document: Document, *, toward: Document, random: Random) -> Document:
    choice = random.random()
    version = next(_newer(document), None)
    if choice < _SELDOM and version is not None:
        return edited(document, {("eks", "version"): version})
    if choice > 1 - _SELDOM / 3:
        return edited(document, {("region",): _ELSEWHERE})
    changes = {key: value for key, value in differing(document, toward).items() if key not in _KEPT}
    number = min(len(changes), random.choice(_SWITCHES_AT_ONCE))
    chosen = random.sample([*changes], number)
    if choice < _WHOLE:  # what goes together is in one section
        chosen = [key for key in changes if key[0] == chosen[0][0]]
    return edited(document, {key: changes[key] for key in chosen})


def _newer(document: Document) -> Iterator[str]:
    known = HYPERPOD_KUBERNETES_VERSIONS
    version = (document.get("eks") or {}).get("version")
    if version in known:
        yield from known[known.index(version) + 1 :]

"""Edits of a configuration: some of its switches get the values of another one.

The switches, and the values that matter of each, are those in which the rows of `pairs.jsonl`
differ.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.schema.errors import key_path
from hyperpod_rehearsal.existing_resources.training_plans import NEXT_WEEK
from hyperpod_rehearsal.pairs import ROWS

Document = Mapping[str, Any]
Key = tuple[str, ...]
"""A section, or a section and a key of it."""
ACCOUNT = "111122223333"
"""The account of the ARNs in rows."""
_ABSENT = ...
# They tell deployments apart.
_KEPT = {("name",), ("region",), ("cluster", "name")}
_ORCHESTRATOR, _VERSION = ("cluster", "orchestrator"), ("eks", "version")
# EKS makes no cluster of a version out of support.
_SUPPORTED_VERSIONS = HYPERPOD_KUBERNETES_VERSIONS[-3:]
_PLAN = "p5-training"
_SWITCHES_AT_ONCE = (1, 1, 2, 3, 5)
_DRAWS = 40
_BACK, _WHOLE, _OLDER, _SELDOM = 0.25, 0.35, 0.3, 0.06
_ELSEWHERE = "eu-west-1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A changed configuration, and the lines that say what is changed."""

    document: Document
    lines: tuple[str, ...]


def rows(account: str) -> list[Document]:
    """Return the configurations in which every two values of switches meet.

    Those with a training plan are there with one that begins in a week, too.
    """
    lines = ROWS.read_text("utf-8").replace(ACCOUNT, account).splitlines()
    lines += [line.replace(_PLAN, f"{_PLAN}-{NEXT_WEEK}") for line in lines if _PLAN in line]
    return [json.loads(line) for line in lines]


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


def start_of(document: Document, *, random: Random, is_valid: Callable[[Document], bool]) -> Edit:
    """Return what a life begins with: the configuration, sometimes of an older Kubernetes."""
    version = random.choice(_SUPPORTED_VERSIONS)
    older = edited(document, {_VERSION: version})
    begun = older if random.random() < _OLDER and is_valid(older) else document
    return Edit(document=begun, lines=lines_of(document, begun))


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
    kept = [each for each in former if _changes(document, each)]
    if not kept or random.random() > _BACK:
        kept = targets
    ways = _ways(document, kept)
    for _ in range(_DRAWS):
        found = _drawn(document, ways=ways, random=random)
        if random.random() < _SELDOM or is_valid(found):
            break
    return Edit(document=found, lines=lines_of(document, found))


def _ways(
    document: Document, targets: Iterable[Document]
) -> Mapping[str, Mapping[Key, Sequence[Document]]]:
    """Return the configurations that have a key otherwise, by the key, by its section."""
    ways: dict[str, dict[Key, list[Document]]] = {}
    for target in targets:
        for key in _changes(document, target):
            ways.setdefault(key[0], {}).setdefault(key, []).append(target)
    return ways


def _changes(document: Document, target: Document) -> dict[Key, Any]:
    return {key: value for key, value in differing(document, target).items() if key not in _KEPT}


def _drawn(
    document: Document,
    *,
    ways: Mapping[str, Mapping[Key, Sequence[Document]]],
    random: Random,
) -> Document:
    choice = random.random()
    newer = _newer(document)
    if choice < _SELDOM and newer:
        return edited(document, {_VERSION: newer[0]})
    if choice > 1 - _SELDOM / 3:
        return edited(document, {("region",): _ELSEWHERE})
    # Each section as often as another, whatever the number of its keys and of the rows with it.
    section = random.choice([*ways])
    key = random.choice([*ways[section]])
    changes = _changes(document, random.choice(ways[section][key]))
    if choice < _WHOLE:  # what goes together is in one section
        chosen = {each for each in changes if each[0] == section}
    else:
        number = min(len(changes), random.choice(_SWITCHES_AT_ONCE))
        chosen = {key, *random.sample([*changes], number - 1)}
    if _ORCHESTRATOR in chosen:  # another one has other sections, in the same network
        chosen |= {each for each in changes if each[0] != "network" or each[-1][:3] == "eks"}
    return edited(document, {each: changes[each] for each in changes if each in chosen})


def _newer(document: Document) -> Sequence[str]:
    known = HYPERPOD_KUBERNETES_VERSIONS
    version = (document.get("eks") or {}).get("version")
    return known[known.index(version) + 1 :] if version in known else ()

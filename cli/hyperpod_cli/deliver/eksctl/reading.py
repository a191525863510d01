"""Walks an eksctl ClusterConfig by the table: what is carried, and what is said of the rest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, path_of
from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.deliver.eksctl.cluster_rows import CLUSTER_ROWS
from hyperpod_cli.deliver.eksctl.group_rows import GROUP_ROWS
from hyperpod_cli.deliver.eksctl.row import Row, alternatives

TABLE: Sequence[Row] = (*CLUSTER_ROWS, *GROUP_ROWS)
"""Every key of eksctl that is known, in the order of the documentation."""
_ENTRY, _ANY_NAME = "[]", ".<>"
_KINDS = ((".", "a mapping of keys to values"), (_ENTRY, "a list"))
_Said = TypeVar("_Said")


def value_at(source: object, path: KeyPath) -> object:
    """Return what a document has at a place."""
    for step in path:
        if isinstance(source, Mapping):
            source = source.get(str(step))
        elif isinstance(source, list) and isinstance(step, int):
            source = source[step]
    return source


@dataclass(kw_only=True, slots=True)
class Draft:
    """A configuration in the making.

    Attributes:
        document: What there is of it.
        origins: Where each of its values is in eksctl's file, by where it is here.
        said: What is said of values that have no place here.
        decisions: What there is to decide, each with where in the document: an error is about a
            value that had to be left out, a warning about one that is there.
    """

    document: dict[str, Any] = field(default_factory=dict)
    origins: dict[KeyPath, KeyPath] = field(default_factory=dict)
    said: list[Finding] = field(default_factory=list)
    decisions: list[tuple[KeyPath, Finding]] = field(default_factory=list)

    def set(self, path: KeyPath, value: object, *, origin: KeyPath) -> None:
        """Put a value where it belongs."""
        parent: Any = self.document
        for step, following in pairwise(path):
            empty: Any = [] if isinstance(following, int) else {}
            if isinstance(step, int):
                while len(parent) <= step:
                    parent.append({})
                parent = parent[step]
            else:
                parent = parent.setdefault(step, empty)
        if isinstance(path[-1], int):
            parent.append(value)
        else:
            parent[path[-1]] = value
        self.origins[path] = origin

    def remove(self, path: KeyPath) -> None:
        """Take a value out; why others were taken out of it is then said of what it was in."""
        parent: Any = value_at(self.document, path[:-1])
        del parent[path[-1]]
        self.origins = dict(_without(self.origins.items(), path))
        about = [said for at, said in self.decisions if at[: len(path)] == path]
        others = [(at, said) for at, said in self.decisions if at[: len(path)] != path]
        left_out = [(path[:-1], said) for said in about if said.severity is Severity.ERROR]
        self.decisions = [*_without(others, path), *left_out]

    def say(self, origin: KeyPath, value: object, message: str) -> None:
        """Say of a value why it is not carried, and what to do instead."""
        self.said.append(Finding(path=origin, value=value, message=message))

    def decide(
        self,
        path: KeyPath,
        *,
        origin: KeyPath,
        value: object,
        message: str,
        severity: Severity = Severity.WARNING,
    ) -> None:
        """Say what there is to decide about a value; once, however often it is carried."""
        finding = Finding(path=origin, value=value, message=message, severity=severity)
        if finding not in [said for _, said in self.decisions]:
            self.decisions.append((path, finding))


def _without(
    values: Iterable[tuple[KeyPath, _Said]], path: KeyPath
) -> Iterator[tuple[KeyPath, _Said]]:
    """Yield values with their places once the one at a place is gone."""
    last = len(path) - 1
    for place, value in values:
        step, gone = (place[last] if len(place) > last else None), path[last]
        if place[:last] != path[:last] or step is None:
            yield place, value
        elif isinstance(step, int) and isinstance(gone, int) and step > gone:
            yield (*place[:last], step - 1, *place[last + 1 :]), value
        elif step != gone:
            yield place, value


def read(document: Mapping[str, Any]) -> Draft:
    """Return what the table carries of an eksctl ClusterConfig, and what it says."""
    draft = Draft()
    for origin, value, row in _walk(document, path=(), key=""):
        if isinstance(row, str):
            draft.say(origin, value, row)
            continue
        found = row.for_value(value)
        taken = value if found is None else found[1]
        if row.ours and not row.is_composed:
            path = _target(row.ours, origin=origin, document=draft.document)
            draft.set(path, taken, origin=origin)
            if row.says:
                draft.decide(path, origin=origin, value=value, message=row.says)
        elif row.says and not row.is_composed:
            draft.say(origin, value, row.says)
    return draft


def _walk(value: Any, *, path: KeyPath, key: str) -> Iterator[tuple[KeyPath, Any, Row | str]]:  # noqa: ANN401
    """Yield where each value is, and the row that it is for, or what is wrong if there is none."""
    if value is None:
        return
    row = next((row for row in _rows().get(key, ()) if row.for_value(value) is not None), None)
    if row is not None:
        yield path, value, row
    elif isinstance(value, Mapping) and (_has(f"{key}.") or not key):
        for name, each in value.items():
            exact = f"{key}.{name}" if key else str(name)
            named = f"{key}{_ANY_NAME}" if _has(f"{key}{_ANY_NAME}") else exact
            yield from _walk(each, path=(*path, str(name)), key=named)
    elif isinstance(value, list) and _has(f"{key}{_ENTRY}"):
        for index, each in enumerate(value):
            yield from _walk(each, path=(*path, index), key=f"{key}{_ENTRY}")
    else:
        yield path, value, _unread(path, key=key)


def _unread(path: KeyPath, *, key: str) -> str:
    """Say what is wrong with a value that no row is for: its kind, or its key."""
    cases = [row.case for row in _rows().get(key, ())]
    kinds = [kind for suffix, kind in _KINDS if _has(key + suffix)]
    if cases or kinds:
        *others, last = (*cases, *kinds)
        return f"it must be {', '.join(others)}{' or ' * bool(others)}{last}"
    return f"this is no key of eksctl that is known here{nearest(path[-1], known=_siblings(path))}"


@cache
def _rows() -> Mapping[str, Sequence[Row]]:
    """Return the rows of each key, in the order of the table."""
    rows: dict[str, list[Row]] = {}
    for each in TABLE:
        for row in alternatives(each):
            rows.setdefault(row.key, []).append(row)
    return rows


def _has(prefix: str) -> bool:
    return any(key.startswith(prefix) for key in _rows())


def _siblings(origin: KeyPath) -> set[str]:
    """Return the names that eksctl has where a key is."""
    parents = {step for step in origin if isinstance(step, str)}
    return {part.removesuffix(_ENTRY) for key in _rows() for part in key.split(".")} - parents


def _target(ours: str, *, origin: KeyPath, document: Mapping[str, Any]) -> KeyPath:
    """Return where a value goes: entries of a list keep their position, others are added."""
    if ours.endswith(_ENTRY):
        path = path_of(ours.removesuffix(_ENTRY))
        there: Any = document
        for step in path:
            there = there.get(step, {})
        return (*path, len(there))
    indices = [step for step in origin if isinstance(step, int)]
    steps: list[str | int] = []
    for part in ours.split("."):
        steps.append(part.removesuffix(_ENTRY))
        if part.endswith(_ENTRY):
            steps.append(indices.pop(0))
    return tuple(steps)

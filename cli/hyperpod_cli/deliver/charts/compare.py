"""Compares two rendered manifests."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from hyperpod_cli.deliver.charts.manifest import images, parse_objects


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What differs.

    Attributes:
        summary: One line an object or image that comes, goes or changes.
        diff: Unified diff of the objects; empty when there is none.
    """

    summary: list[str]
    diff: str


def compare_manifests(now: str, then: str) -> Comparison:
    """Compare two manifests object by object, whatever the order and layout of their text."""
    before, after = parse_objects(now), parse_objects(then)
    changed = [name for name in before if name in after and before[name] != after[name]]
    summary = [
        *_lines("object", removed=before.keys() - after.keys(), added=after.keys() - before.keys()),
        *(f"object changes: {name}" for name in changed),
        *_lines(
            "image",
            removed=set(images(before)) - set(images(after)),
            added=set(images(after)) - set(images(before)),
        ),
    ]
    different = sorted({*changed, *(before.keys() ^ after.keys())})
    diff = "".join(_diff(name, before.get(name), after.get(name)) for name in different)
    return Comparison(summary=summary or ["the rendered manifests are the same"], diff=diff)


def _lines(kind: str, *, removed: Iterable[str], added: Iterable[str]) -> list[str]:
    return [
        *(f"{kind} removed: {name}" for name in sorted(removed)),
        *(f"{kind} added: {name}" for name in sorted(added)),
    ]


def _diff(name: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    return "".join(
        difflib.unified_diff(
            _text(before), _text(after), fromfile=f"packaged: {name}", tofile=f"newest: {name}"
        )
    )


def _text(document: dict[str, Any] | None) -> list[str]:
    return [] if document is None else yaml.safe_dump(document).splitlines(keepends=True)

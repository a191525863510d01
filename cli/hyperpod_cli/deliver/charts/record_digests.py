"""Writes digests into the pin file and changes nothing else in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml


def record_digests(file: Path, *, digests: Mapping[tuple[str, str | None], str]) -> list[str]:
    """Put SHA-256 digests into the pin file.

    Args:
        file: The pin file.
        digests: Digest by name and parent of the dependency.

    Returns:
        One line a digest that changed: `name: old -> new`.
    """
    text = file.read_text()
    changes = []
    # From the end, so that the positions before stay right.
    for name, parent, scalar in reversed(list(_digest_nodes(text))):
        new = digests.get((name, parent))
        if new is None or new == scalar.value:
            continue
        changes.append(f"{name}: {scalar.value} -> {new}")
        text = text[: scalar.start_mark.index] + new + text[scalar.end_mark.index :]
    if changes:
        unfinished = file.with_name(f".{file.name}.new")
        unfinished.write_text(text)
        unfinished.replace(file)
    return changes[::-1]


def _digest_nodes(text: str) -> Iterator[tuple[str, str | None, yaml.ScalarNode]]:
    """Return the position of each dependency's digest in the text of the file."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for dependency in _entries(root)["dependencies"].value:
        entries = _entries(dependency)
        parent = entries["parent"].value if "parent" in entries else None
        yield entries["name"].value, parent, entries["sha256"]


def _entries(node: yaml.Node | None) -> dict[str, Any]:
    """Return the keys of a mapping and their nodes; the file was validated before."""
    return {key.value: value for key, value in node.value} if node is not None else {}

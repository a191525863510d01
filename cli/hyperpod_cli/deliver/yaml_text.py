"""The text of a YAML file, changed by the place of a value; all else stays as it is."""

from collections.abc import Sequence
from math import inf
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

# libyaml's, where PyYAML has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Place = Sequence[str | int]


def scalar(text: str) -> str:
    """Write a text so that YAML reads it as that text, in a list too; in quotes where needed."""
    try:
        is_plain = yaml.safe_load(f"[{text}]") == [text]
    except yaml.YAMLError:
        is_plain = False
    return text if is_plain else yaml.safe_dump(text, default_style='"', width=inf).strip()


class YamlText:
    """The text of a YAML file in block style, and changes of it by the place of a value."""

    def __init__(self, text: str) -> None:
        self.text = text

    def set(self, place: Place, value: str, *, comment: str | None = None) -> None:
        """Replace a scalar, and the comment behind it by another one if there is one."""
        node = self._entry(place)[1]
        start, end = node.start_mark.index, node.end_mark.index
        if comment is not None:
            value += f" # {comment}"
            end = self.text.index("\n", end)
        self.text = self.text[:start] + value + self.text[end:]

    def replace(self, place: Place, line: str) -> None:
        """Replace a key or a list's entry, and the comments within it, by a line."""
        lines = self.text.splitlines(keepends=True)
        first, last = self._lines(place)
        lines[first:last] = [f"{line}\n"]
        self.text = "".join(lines)

    def remove(self, place: Place) -> None:
        """Remove a key or a list's entry, the comments within it, and those right above it."""
        lines = self.text.splitlines(keepends=True)
        first, last = self._lines(place)
        while lines[first - 1].lstrip().startswith("#"):
            first -= 1
        while not lines[first - 1].strip() and last < len(lines) and not lines[last].strip():
            last += 1
        del lines[first:last]
        self.text = "".join(lines)

    def add_after(self, place: Place, line: str) -> None:
        """Add a key after another one, as far to the right."""
        lines = self.text.splitlines(keepends=True)
        _, last = self._lines(place)
        indent = " " * self._entry(place)[0].start_mark.column
        lines.insert(last, f"{indent}{line}\n")
        self.text = "".join(lines)

    def _lines(self, place: Place) -> tuple[int, int]:
        """Return the first line of an entry, and the one after its last, with comments in it."""
        key, value = self._entry(place)
        lines = self.text.splitlines()
        first, last = key.start_mark.line, _last_line(value) + 1
        indent = len(lines[first]) - len(lines[first].lstrip())
        while last < len(lines) and lines[last].startswith(" " * (indent + 1)):
            last += 1
        return first, last

    def _entry(self, place: Place) -> tuple[Node, Node]:
        """Return a key and its value; of a list's entry, the entry twice."""
        root = yaml.compose(self.text, Loader=_LOADER)
        if root is None:
            raise ValueError("the file is empty")
        node = key = root
        for step in place:
            if isinstance(node, MappingNode):
                key, node = next(pair for pair in node.value if pair[0].value == step)
            elif isinstance(node, SequenceNode) and isinstance(step, int):
                key = node = node.value[step]
        return key, node


def _last_line(node: Node) -> int:
    """Return the last line of a value; a block's own end is where the next one begins."""
    if isinstance(node, MappingNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1][1])
    if isinstance(node, SequenceNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1])
    return int(node.end_mark.line)

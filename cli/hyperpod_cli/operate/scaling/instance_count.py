"""The number of a group in the text of a configuration; nothing else of the text changes."""

import re
from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hyperpod_cli.terminal.errors import OpsError

_KEY = "instance_count"
_NAME = "name"
_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\[\]{}]+)")
# A value may have an anchor and a tag before it.
_NUMBER = re.compile(r"\S+\Z")
_LISTS = ("instance_groups", "restricted_instance_groups")


def with_count(text: str, *, group: str, index: int, count: int) -> str:
    """Return the text of a configuration with another number of nodes in a group.

    Comments, layout, anchors and aliases stay. A group that has its number from a merge key gets
    one of its own.

    Args:
        text: The text; a configuration that can be used.
        group: Name of the group.
        index: Its place among all groups.
        count: The number.

    Raises:
        OpsError: The number is not written where it could be changed.
    """
    mapping = _group(yaml.compose(text, Loader=yaml.SafeLoader), index)
    found = None if mapping is None else _value(mapping, _KEY)
    if found is not None:
        begin, end = _span(text, *found)
        return f"{text[:begin]}{count}{text[end:]}"
    named = None if mapping is None else _value(mapping, _NAME)
    if mapping is None or named is None:
        raise OpsError(
            f"cluster.instance_groups: {_KEY} of {group!r} is not written in the group itself; "
            "change it by hand and run `make deploy`"
        )
    if mapping.flow_style:
        position = named[1].end_mark.index
        return f"{text[:position]}, {_KEY}: {count}{text[position:]}"
    end_of_line = re.compile(r"\r?$", re.MULTILINE).search(text, named[1].end_mark.index)
    position = len(text) if end_of_line is None else end_of_line.start()
    indent = " " * named[0].start_mark.column
    newline = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:position]}{newline}{indent}{_KEY}: {count}{text[position:]}"


def _group(root: Node | None, index: int) -> MappingNode | None:
    cluster = _value(root, "cluster")
    groups = [*_groups(cluster[1])] if cluster is not None else []
    group = groups[index] if index < len(groups) else None
    return group if isinstance(group, MappingNode) else None


def _groups(cluster: Node) -> Iterator[Node]:
    for name in _LISTS:
        listed = _value(cluster, name)
        if listed is not None and isinstance(listed[1], SequenceNode):
            yield from listed[1].value


def _value(mapping: Node | None, name: str) -> tuple[Node, Node] | None:
    """Return a key of a mapping and its value, as they are written there."""
    for key, value in mapping.value if isinstance(mapping, MappingNode) else ():
        if isinstance(key, ScalarNode) and key.value == name:
            return key, value
    return None


def _span(text: str, key: Node, value: Node) -> tuple[int, int]:
    """Return where the value of a key is, without an anchor that others may need."""
    alias = _ALIAS.match(text, key.end_mark.index)
    if alias is not None:
        return alias.span(1)
    written = text[value.start_mark.index : value.end_mark.index]
    number = _NUMBER.search(written)
    begin = number.start() if number is not None else 0
    return value.start_mark.index + begin, value.end_mark.index

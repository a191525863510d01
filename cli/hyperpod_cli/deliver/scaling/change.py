"""Another number of nodes in a configuration file: checked, shown, written and taken back."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.loading import config_of
from hyperpod_cli.terminal.atomic_file import ChangedError, replace_file
from hyperpod_cli.terminal.errors import OpsError

_KEY = "instance_count"
_NAME = "name"
_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\[\]{}]+)")
# A value may have an anchor and a tag before it.
_NUMBER = re.compile(r"\S+\Z")
_LISTS = ("instance_groups", "restricted_instance_groups")


def _with_count(text: str, *, group: str, index: int, count: int) -> str:
    """Return the text of a configuration with another number of nodes in a group.

    Comments, layout, anchors and aliases stay. A group that has its number from a merge key gets
    one of its own.
    """
    mapping = _group(yaml.compose(text, Loader=yaml.SafeLoader), index)
    entry = _value(mapping, _KEY)
    if entry is not None:
        begin, end = _span(text, *entry)
        return f"{text[:begin]}{count}{text[end:]}"
    named = _value(mapping, _NAME)
    if mapping is None or named is None:
        raise OpsError(
            f"cluster.instance_groups: {_KEY} of {group!r} is not set in the group itself; "
            "change it manually and run `hyperpod-cdk deploy`"
        )
    position: int = named[1].end_mark.index
    if mapping.flow_style:
        return f"{text[:position]}, {_KEY}: {count}{text[position:]}"
    position += len(text[position:].partition("\n")[0].removesuffix("\r"))
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


@dataclass(frozen=True, kw_only=True)
class CountChange:
    """A configuration file, and what becomes of it."""

    path: Path
    group: str
    before: str
    after: str
    former: int
    count: int

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff."""
        name = str(self.path)
        lines = (self.before.splitlines(), self.after.splitlines())
        yield from difflib.unified_diff(*lines, fromfile=name, tofile=name, lineterm="", n=2)

    def write(self) -> None:
        """Change the file. OpsError: it was changed meanwhile, or cannot be written."""
        self._replace(self.before, self.after)

    def take_back(self) -> None:
        """Restore the file. OpsError: it was changed meanwhile, or cannot be written."""
        self._replace(self.after, self.before)

    def _replace(self, expected: str, text: str) -> None:
        try:
            replace_file(self.path, text, expected=expected.encode())
        except ChangedError:
            raise OpsError(
                f"{self.path}: was changed by another program in the meantime and was not "
                "overwritten; run it again"
            ) from None
        except OSError as error:
            raise OpsError(f"{self.path}: cannot be written ({error.strerror})") from None


def count_change(path: Path, *, group: str, count: int) -> CountChange:
    """Return what a configuration becomes with another number of nodes in a group.

    A group that is not there, and a number that is not its own, are refused.
    """
    config = load_config(path)
    groups = config.cluster.all_groups
    names = [each.name for each in groups]
    if group in [each.name for each in config.node_groups] and group not in names:
        key, why = "desired_size", ""
        if config.operators.cluster_autoscaler:
            key, why = "min_size", ", whose size is the Cluster Autoscaler's from min_size on"
        raise OpsError(
            f"{path}: group: {group!r} is an EKS node group{why}; change its {key} in the file, "
            "then run hyperpod-cdk deploy"
        )
    if group not in names:
        known = ", ".join(names) or "none"
        raise OpsError(f"{path}: group: {group!r} is not there; it has {known}")
    index = names.index(group)
    text = _text(path)
    former = groups[index].instance_count
    changed = text
    if former != count:
        changed = _with_count(text, group=group, index=index, count=count)
    if _counts(config_of(changed, path=path)) != {**_counts(config), group: count}:
        raise OpsError(
            f"{path}: instance_count of {group!r} is also that of another group (an anchor); "
            "change it manually and run `hyperpod-cdk deploy`"
        )
    return CountChange(
        path=path, group=group, before=text, after=changed, former=former, count=count
    )


def _counts(config: Config) -> dict[str, Any]:
    return {group.name: group.instance_count for group in config.cluster.all_groups}


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()

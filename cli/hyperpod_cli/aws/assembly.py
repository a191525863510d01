"""What a cloud assembly says of its stacks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.terminal.errors import OpsError

CDK_METADATA = "AWS::CDK::Metadata"
"""Type of a resource that is nothing in AWS."""
_STACK = "aws:cloudformation:stack"
_PATH = "aws:cdk:path"
# What CDK names the resource of a construct that is one resource.
_SOLE = ("/Resource/Default", "/Resource", "/Default")


class UnknownStackError(OpsError):
    """No stack of the assembly has the name; the text says which there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack of an assembly.

    Attributes:
        name: Its name.
        template: Its template.
        needs: Names of the stacks that are deployed before it.
    """

    name: str
    template: Mapping[str, Any]
    needs: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of its resources, without the one that says what the CDK has used."""
        kinds = (resource["Type"] for resource in self.template["Resources"].values())
        return sum(kind != CDK_METADATA for kind in kinds)


def stacks_in(assembly: Path) -> list[Stack]:
    """Return the stacks of an assembly, each after those that it needs.

    Args:
        assembly: Directory that `cdk synth` wrote.
    """
    artifacts: Mapping[str, Any] = json.loads((assembly / "manifest.json").read_text("utf-8"))[
        "artifacts"
    ]
    stacks = {name: each for name, each in artifacts.items() if each["type"] == _STACK}
    return [
        Stack(
            name=each["properties"].get("stackName", name),
            template=json.loads((assembly / each["properties"]["templateFile"]).read_text("utf-8")),
            needs=tuple(other for other in each.get("dependencies", ()) if other in stacks),
        )
        for name, each in stacks.items()
    ]


def chosen(stacks: Iterable[Stack], patterns: Sequence[str]) -> list[Stack]:
    """Return the stacks that are named, and those that they need, as the CDK CLI does.

    Args:
        stacks: The stacks of an assembly.
        patterns: Names, or patterns such as `*-hyperpod`; none for all stacks.

    Raises:
        UnknownStackError: There is none of a name.
    """
    by_name = {stack.name: stack for stack in stacks}
    matching = {each: [name for name in by_name if fnmatchcase(name, each)] for each in patterns}
    for pattern, names in matching.items():
        if not names:
            close = nearest(pattern, known=by_name)
            raise UnknownStackError(
                f"ONLY: there is no stack {pattern!r}{close} (allowed: {', '.join(by_name)})"
            )
    named = [name for names in matching.values() for name in names] or [*by_name]
    wanted = set(_with_needs(named, by_name))
    return [stack for name, stack in by_name.items() if name in wanted]


def _with_needs(names: Iterable[str], by_name: Mapping[str, Stack]) -> Iterator[str]:
    for name in names:
        yield name
        yield from _with_needs(by_name[name].needs, by_name)


def construct_paths(template: Mapping[str, Any]) -> dict[str, str]:
    """Return the path of each resource's construct in its stack, by logical ID."""
    return {
        logical_id: _path(resource["Metadata"][_PATH])
        for logical_id, resource in template["Resources"].items()
        if _PATH in resource.get("Metadata", {})
    }


def _path(path: str) -> str:
    inside = path.partition("/")[2]
    for suffix in _SOLE:
        if inside.endswith(suffix):
            return inside.removesuffix(suffix)
    return inside

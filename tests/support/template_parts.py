"""Parts of a template: what they refer to, and what they need."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperpod_emulator.testing.stacks import Template

CUSTOM = "Custom::"
"""With what the types of custom resources begin."""
_VARIABLE = re.compile(r"\$\{([^}.!]+)[^}]*\}")


def references(node: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the logical ids, and other names, that a part of a template refers to."""
    match node:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": str(text)}:
            yield from _VARIABLE.findall(text)
        case dict():
            for value in node.values():
                yield from references(value)
        case list():
            for value in node:
                yield from references(value)


def imports(node: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the exports of other stacks that a part of a template takes."""
    match node:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case dict():
            for value in node.values():
                yield from imports(value)
        case list():
            for value in node:
                yield from imports(value)


def needed(roots: Iterable[str], resources: Mapping[str, Template]) -> set[str]:
    """Return the resources of CloudFormation that some refer to, themselves included."""
    found: set[str] = set()
    left = [*roots]
    while left:
        name = left.pop()
        if name in found or resources.get(name, {"Type": CUSTOM})["Type"].startswith(CUSTOM):
            continue
        found.add(name)
        left += [*references(resources[name]), *_dependencies(resources[name])]
    return found


def _dependencies(resource: Template) -> list[str]:
    needed = resource.get("DependsOn", [])
    return [needed] if isinstance(needed, str) else needed


def depending_on(names: set[str], resource: Template) -> Template:
    """Return a resource that depends on no others than these."""
    return {**resource, "DependsOn": [name for name in _dependencies(resource) if name in names]}


def with_attributes(
    node: Any,  # noqa: ANN401 - any JSON value
    attributes: Mapping[str, Mapping[str, Any]],
) -> Any:  # noqa: ANN401 - any JSON value
    """Return a part of a template with the attributes of custom resources in it."""
    match node:
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in attributes:
            return attributes[name][attribute]
        case dict():
            return {key: with_attributes(value, attributes) for key, value in node.items()}
        case list():
            return [with_attributes(value, attributes) for value in node]
    return node

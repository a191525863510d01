"""Reading what `cdk synth` wrote: the templates, and how their resources refer to each other."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Value = Any  # any JSON
"""A property's value in a template."""

_IN_SUB = re.compile(r"\$\{([^!}.]+)[^}]*\}")


@dataclass(frozen=True, order=True, slots=True)
class Address:
    """Where a resource is.

    Attributes:
        stack: Name of the stack.
        logical_id: Name of the resource in the stack's template.
    """

    stack: str
    logical_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One resource of a template.

    Attributes:
        address: Where it is.
        type: The resource type, such as `AWS::EC2::VPC`.
        properties: The properties as the template has them, functions unresolved.
        deletion_policy: The policy, such as `Retain`; empty if the template says nothing.
        needs: What it refers to or depends on, imports from other stacks included; sorted.
    """

    address: Address
    type: str
    properties: Mapping[str, Value]
    deletion_policy: str
    needs: tuple[Address, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """One synthesized stack.

    Attributes:
        name: Name of the stack.
        description: What its template says of it.
        resources: Its resources by address.
    """

    name: str
    description: str
    resources: Mapping[Address, Resource]

    def of_type(self, resource_type: str) -> list[Resource]:
        """List the resources of one type, in the template's order."""
        return [item for item in self.resources.values() if item.type == resource_type]


def read_stacks(assembly: Path) -> list[Stack]:
    """Read the stacks that the last synthesis wrote into a directory such as `cdk.out/default`.

    Raises:
        OSError: There is no manifest or template.
    """
    templates = read_templates(assembly)
    exports = dict(_exports(templates))
    return [_stack(name, template, exports) for name, template in templates.items()]


def read_templates(assembly: Path) -> dict[str, Value]:
    """Read the template of each stack that the last synthesis wrote into a directory.

    The directory's manifest says which they are: templates of earlier syntheses stay beside them.

    Raises:
        OSError: There is no manifest or template.
    """
    manifest = json.loads((assembly / "manifest.json").read_text("utf-8"))
    return {
        name: json.loads((assembly / artifact["properties"]["templateFile"]).read_text("utf-8"))
        for name, artifact in sorted(manifest["artifacts"].items())
        if artifact["type"] == "aws:cloudformation:stack"
    }


def text(value: Value) -> str:
    """Return a property as a reader would write it; what only AWS knows as `<Name>`."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(text(part) for part in parts)
        case {"Fn::Sub": str(pattern)}:
            return _IN_SUB.sub(lambda found: f"<{found[1].rpartition('::')[2]}>", pattern)
        case {"Ref": str(name)}:
            return f"<{name.rpartition('::')[2]}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::ImportValue": name}:
            return f"<{text(name)}>"
        case _:
            return str(value)


def referred_to(value: Value, *, stack: str, exports: Mapping[str, Address]) -> Iterator[Address]:
    """Yield the resources that a value names, by `Ref`, `Fn::GetAtt`, `Fn::Sub` or import."""
    match value:
        case {"Ref": str(name)}:
            yield Address(stack, name)
        case {"Fn::GetAtt": [name, _]}:
            yield Address(stack, name)
        case {"Fn::Sub": str(pattern)}:
            yield from (Address(stack, name) for name in _IN_SUB.findall(pattern))
        case {"Fn::ImportValue": str(name)} if name in exports:
            yield exports[name]
        case Mapping():
            for item in value.values():
                yield from referred_to(item, stack=stack, exports=exports)
        case Sequence() if not isinstance(value, str):
            for item in value:
                yield from referred_to(item, stack=stack, exports=exports)


def _exports(templates: Mapping[str, Value]) -> Iterator[tuple[str, Address]]:
    for stack, template in templates.items():
        for output in template.get("Outputs", {}).values():
            for address in referred_to(output["Value"], stack=stack, exports={}):
                if "Export" in output:
                    yield output["Export"]["Name"], address


def _stack(name: str, template: Value, exports: Mapping[str, Address]) -> Stack:
    known = {Address(name, logical_id) for logical_id in template["Resources"]}
    known |= set(exports.values())
    resources = {}
    for logical_id, body in template["Resources"].items():
        address = Address(name, logical_id)
        after = body.get("DependsOn", [])
        needs = {Address(name, item) for item in ([after] if isinstance(after, str) else after)}
        needs |= set(referred_to(body.get("Properties", {}), stack=name, exports=exports))
        resources[address] = Resource(
            address=address,
            type=body["Type"],
            properties=body.get("Properties", {}),
            deletion_policy=body.get("DeletionPolicy", ""),
            # A parameter or a pseudo parameter is not a resource.
            needs=tuple(sorted((needs & known) - {address})),
        )
    return Stack(name=name, description=template.get("Description", ""), resources=resources)

"""What a cloud assembly says: its stacks, their resources, and the roles of `cdk bootstrap`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.terminal.errors import OpsError

T = TypeVar("T")
Value = Any  # any JSON
"""A property's value in a template."""
CDK_METADATA = "AWS::CDK::Metadata"
"""Type of a resource that is nothing in AWS."""
_STACK = "aws:cloudformation:stack"
_PATH = "aws:cdk:path"
# What CDK names the resource of a construct that is one resource.
_SOLE = ("/Resource/Default", "/Resource", "/Default")
_IN_SUB = re.compile(r"\$\{([^!}.]+)[^}]*\}")


@dataclass(frozen=True, order=True, slots=True)
class Address:
    """Where a resource is."""

    stack: str
    logical_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TemplateResource:
    """One resource of a template.

    Attributes:
        properties: The properties as the template has them, functions unresolved.
        needs: What it refers to or depends on, imports from other stacks included; sorted.
    """

    address: Address
    type: str
    properties: Mapping[str, Value]
    needs: tuple[Address, ...]


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack of an assembly.

    Attributes:
        needs: Names of the stacks that are deployed before it.
        exports: What each export of the assembly's stacks refers to, by its name.
        account: Account that it is deployed to; empty if the assembly names none.
        region: Region that it is deployed to; empty if the assembly names none.
        lookup_role: ARN of the role of `cdk bootstrap` that reads it; empty without a bootstrap.
        execution_role: ARN of CloudFormation's role; empty without a bootstrap.
    """

    name: str
    template: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    exports: Mapping[str, Address] = field(default_factory=dict)
    account: str = ""
    region: str = ""
    is_protected: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    lookup_role: str = ""
    execution_role: str = ""

    @property
    def size(self) -> int:
        """Number of its resources, without the one that says what the CDK has used."""
        kinds = (resource["Type"] for resource in self.template["Resources"].values())
        return sum(kind != CDK_METADATA for kind in kinds)

    @cached_property
    def resources(self) -> Mapping[Address, TemplateResource]:
        """Its resources by address."""
        bodies = self.template["Resources"]
        known = {Address(self.name, each) for each in bodies} | {*self.exports.values()}
        return {
            Address(self.name, each): self._resource(each, body, known=known)
            for each, body in bodies.items()
        }

    def of_type(self, resource_type: str) -> list[TemplateResource]:
        """List the resources of one type, in the template's order."""
        return [item for item in self.resources.values() if item.type == resource_type]

    def _resource(self, logical_id: str, body: Value, *, known: set[Address]) -> TemplateResource:
        address, properties = Address(self.name, logical_id), body.get("Properties", {})
        after = body.get("DependsOn", [])
        needs = {
            Address(self.name, each) for each in ([after] if isinstance(after, str) else after)
        }
        needs |= {*referred_to(properties, stack=self.name, exports=self.exports)}
        return TemplateResource(
            address=address,
            type=body["Type"],
            properties=properties,
            # A parameter or a pseudo parameter is not a resource.
            needs=tuple(sorted((needs & known) - {address})),
        )


def stacks_in(assembly: Path) -> list[Stack]:
    """Return the stacks of an assembly, each after those that it needs.

    The assembly is a folder that `cdk synth` wrote, such as `cdk.out/default`. Templates of earlier
    syntheses, which may be in it too, are not among them. OSError: it has no manifest or template.
    """
    artifacts = _artifacts(assembly)
    stacks = {name: each for name, each in artifacts.items() if each["type"] == _STACK}
    names = {name: each["properties"].get("stackName", name) for name, each in stacks.items()}
    templates = {
        names[name]: _read(assembly / each["properties"]["templateFile"])
        for name, each in stacks.items()
    }
    exports = dict(_exports(templates))
    found = []
    for name, each in stacks.items():
        properties = each["properties"]
        before = [other for other in each.get("dependencies", ()) if other in stacks]
        account, _, region = each.get("environment", "").removeprefix("aws://").partition("/")
        found.append(
            Stack(
                name=names[name],
                template=templates[names[name]],
                needs=tuple(names[other] for other in before),
                exports=exports,
                account=account,
                region=region,
                is_protected=properties.get("terminationProtection", False),
                tags=properties.get("tags", {}),
                lookup_role=properties.get("lookupRole", {}).get("arn", ""),
                execution_role=properties.get("cloudFormationExecutionRoleArn", ""),
            )
        )
    return found


def stacks_by_name(assembly: Path) -> list[Stack]:
    """Return the stacks of an assembly in the order of their names; otherwise as `stacks_in`."""
    return sorted(stacks_in(assembly), key=lambda stack: stack.name)


def roles_of_cli(assembly: Path) -> Iterator[str]:
    """Yield the ARNs of the roles that the CDK CLI assumes to deploy stacks and publish files."""
    for artifact in _artifacts(assembly).values():
        properties = artifact.get("properties", {})
        for arn in (properties.get("assumeRoleArn"), properties.get("lookupRole", {}).get("arn")):
            if arn is not None:
                yield arn
        if artifact["type"] == "cdk:asset-manifest":
            assets = _read(assembly / properties["file"])
            for kind in ("files", "dockerImages"):
                for asset in assets.get(kind, {}).values():
                    for destination in asset["destinations"].values():
                        if "assumeRoleArn" in destination:
                            yield destination["assumeRoleArn"]


def _artifacts(assembly: Path) -> Mapping[str, Mapping[str, Any]]:
    artifacts: Mapping[str, Mapping[str, Any]] = _read(assembly / "manifest.json")["artifacts"]
    return artifacts


def _read(file: Path) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # a synthesis was interrupted
        raise OpsError(f"{file}: is not JSON ({error}); run `hyperpod-cdk synth` again") from None


def _exports(templates: Mapping[str, Value]) -> Iterator[tuple[str, Address]]:
    for stack, template in templates.items():
        for output in template.get("Outputs", {}).values():
            for address in referred_to(output["Value"], stack=stack, exports={}):
                if "Export" in output:
                    yield output["Export"]["Name"], address


def chosen(
    stacks: Iterable[Stack], patterns: Sequence[str], *, exclusively: bool = False
) -> list[Stack]:
    """Return the stacks that patterns name, and those that they need, as the CDK CLI does.

    A pattern is a name, or such as `*-hyperpod`; it names something, and none names all.
    """
    by_name = {stack.name: stack for stack in stacks}
    matching = {each: [name for name in by_name if fnmatchcase(name, each)] for each in patterns}
    for pattern, names in matching.items():
        if not names:
            close = nearest(pattern, known=by_name)
            raise OpsError(
                f"--only: there is no stack {pattern!r}{close} (allowed: {', '.join(by_name)})"
            )
    named = [name for names in matching.values() for name in names] or [*by_name]
    wanted = set(named) if exclusively else set(_with_needs(named, by_name))
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


def trust_of(role: Mapping[str, Value]) -> Sequence[Mapping[str, Value]]:
    """Return the statements of a role's trust policy, which may be a text with values in it."""
    match role["AssumeRolePolicyDocument"]:
        case {"Fn::Sub": [str(document), _]}:
            statements: Sequence[Mapping[str, Value]] = json.loads(document)["Statement"]
        case document:
            statements = document["Statement"]
    return statements


def text(value: Value) -> str:  # noqa: PLR0911 - one for each function of CloudFormation
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
        case {"Fn::Select": [_, Mapping() as part]} | {"Fn::Split": [_, part]}:
            return text(part)
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

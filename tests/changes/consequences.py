"""What CloudFormation would do to a deployment's resources if its templates changed.

Read from the resource schemas, without deploying: a resource whose create-only property changes,
or refers to a resource that is replaced, is replaced too; a new resource is created before an old
one is deleted, so what only one of them can have makes the update fail.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Any

from aws_reference.resource_schemas import schema_of, values_at
from hyperpod_cli.aws.assembly import trust_of

Template = Mapping[str, Any]
Templates = Mapping[str, Template]
"""The template of each stack by its kind: platform, storage, hyperpod."""


class Outcome(StrEnum):
    """What becomes of a resource, the worst last."""

    REFUSED = auto()
    UPDATE = auto()
    REMOVE = auto()
    REPLACE = auto()
    FAIL = auto()


_SEVERITY = [outcome.value for outcome in Outcome]

# The stack that all others depend on.
_FIRST = "platform"

# The properties that the physical ID of a custom resource is made of (lambda/provisioner).
_PHYSICAL_IDS = {
    "Custom::HelmRelease": ("ClusterName", "Namespace", "Release"),
    "Custom::HyperPodCluster": ("ClusterName",),
}

# What at most one resource at a time can have, beside the identifiers that the schemas name: an
# address has one gateway, https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html,
# a directory of a file system has one S3 location and the other way round,
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html,
_EXCLUSIVE = {
    "AWS::EC2::NatGateway": ((("AllocationId",),),),
    "AWS::FSx::DataRepositoryAssociation": (
        (("FileSystemId",), ("FileSystemPath",)),
        (("FileSystemId",), ("DataRepositoryPath",)),
    ),
}
# and address blocks of a VPC do not overlap,
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html.
_ADDRESS_BLOCKS = ("AWS::EC2::Subnet", "AWS::EC2::VPCCidrBlock")


@dataclass(slots=True)
class _Comparison:
    old: Templates
    new: Templates
    replaced: set[tuple[str, str]] = field(default_factory=set)

    def properties(self, templates: Templates, stack: str, name: str) -> Any:  # noqa: ANN401
        definition = templates[stack]["Resources"][name]
        return self.resolved(definition.get("Properties", {}), templates, stack)

    def resolved(self, node: object, templates: Templates, stack: str) -> Any:  # noqa: ANN401
        """Return a value with a text for each reference, another one once that is replaced."""
        match node:
            case {"Ref": str(name)}:
                return self._reference(name, "", templates, stack)
            case {"Fn::GetAtt": [str(name), attribute]}:
                return self._reference(name, f".{attribute}", templates, stack)
            case {"Fn::ImportValue": str(name)}:
                return str(self.exports(templates).get(name, ("", None))[1])
            case Mapping():
                return {key: self.resolved(each, templates, stack) for key, each in node.items()}
            case list():
                return [self.resolved(each, templates, stack) for each in node]
        return node

    def _reference(self, name: str, attribute: str, templates: Templates, stack: str) -> str:
        again = templates is self.new and (stack, name) in self.replaced
        return f"${{{stack}/{name}{attribute}}}{' (new)' if again else ''}"

    def exports(self, templates: Templates) -> dict[str, tuple[str, object]]:
        """Return the stack and the value of each export."""
        return {
            output["Export"]["Name"]: (stack, self.resolved(output["Value"], templates, stack))
            for stack, template in templates.items()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }

    def kept(self) -> Iterator[tuple[str, str]]:
        """Yield stack and name of each resource that stays under its logical id and type."""
        for stack, template in self.old.items():
            resources = self.new.get(stack, {}).get("Resources", {})
            for name, definition in template["Resources"].items():
                if resources.get(name, {}).get("Type") == definition["Type"]:
                    yield stack, name

    def find_replaced(self) -> None:
        """Follow references until nothing more is replaced."""
        size = -1
        while size != len(self.replaced):
            size = len(self.replaced)
            for stack, name in self.kept():
                kind = self.old[stack]["Resources"][name]["Type"]
                old = self.properties(self.old, stack, name)
                if _is_replacing(kind, old, self.properties(self.new, stack, name)):
                    self.replaced.add((stack, name))

    def refused(self, stack: str, name: str) -> bool:
        """Return whether a resource that is created finds its place taken."""
        kind = self.new[stack]["Resources"][name]["Type"]
        created = self.properties(self.new, stack, name)
        return any(
            _exclude_each_other(kind, self.properties(self.old, other, other_name), created)
            for other, template in self.old.items()
            for other_name, definition in template["Resources"].items()
            if definition["Type"] == kind
        )


def _is_replacing(kind: str, old: Any, new: Any) -> bool:  # noqa: ANN401 - properties
    schema = schema_of(kind)
    if schema is not None:
        return bool(schema.replacing(old, new))
    return any(old.get(name) != new.get(name) for name in _PHYSICAL_IDS.get(kind, ()))


def consequences(old: Templates, new: Templates) -> dict[str, str]:
    """Return what becomes of the resources, the worst for each stack and type.

    Args:
        old: What is deployed.
        new: What it is changed to; a stack that it lacks stays as it is.

    Returns:
        `stack/type` to the outcome in lower case. `stack/export` fails when a deployed stack
        imports what changes. `stack/rules` is refused before anything is done with the stack, and
        then with those that depend on it.

    Raises:
        LookupError: A resource has a type that the schemas' data file lacks.
    """
    _require_schemas(new)
    refused = {stack for stack in old.keys() & new.keys() if _breaks_a_rule(old[stack], new[stack])}
    untouched = old.keys() if _FIRST in refused else refused
    reached = {name: old.get(name, new[name]) if name in untouched else new[name] for name in new}
    comparison = _Comparison(old, reached)
    comparison.find_replaced()
    found = [{label: outcome.value} for label, outcome in _outcomes(comparison)]
    return worst([*found, *({f"{stack}/rules": Outcome.REFUSED.value} for stack in refused)])


def _breaks_a_rule(old: Template, new: Template) -> bool:
    """Return whether CloudFormation refuses an update that keeps the parameters' values.

    That is how `cdk deploy` and `aws cloudformation deploy` update.
    """
    former = old.get("Parameters", {})
    values = {
        name: former.get(name, definition).get("Default")
        for name, definition in new.get("Parameters", {}).items()
    }
    return any(
        values[assertion["Assert"]["Fn::Equals"][0]["Ref"]] != assertion["Assert"]["Fn::Equals"][1]
        for rule in new.get("Rules", {}).values()
        for assertion in rule["Assertions"]
        # CDK's own rule about its bootstrap stack has another function.
        if "Fn::Equals" in assertion["Assert"]
    )


def _require_schemas(templates: Templates) -> None:
    kinds = {each["Type"] for found in templates.values() for each in found["Resources"].values()}
    lacking = sorted(kind for kind in kinds if kind.startswith("AWS::") and not schema_of(kind))
    if lacking:
        raise LookupError(
            f"{', '.join(lacking)}: add a row to cli/hyperpod_cli/inspect/resource_types.py, "
            "and run `make generate`"
        )


def worst(found: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the worst outcome of each resource."""
    result: dict[str, str] = {}
    for label, outcome in sorted(pair for each in found for pair in each.items()):
        result[label] = max(outcome, result.get(label, outcome), key=_SEVERITY.index)
    return result


def _outcomes(comparison: _Comparison) -> Iterator[tuple[str, Outcome]]:
    old, new = comparison.old, comparison.new
    kept = set(comparison.kept())
    for stack, name in kept:
        before = comparison.properties(old, stack, name)
        label = _label(stack, old[stack]["Resources"][name])
        if (stack, name) in comparison.replaced:
            schema = schema_of(old[stack]["Resources"][name]["Type"])
            first = schema is not None and schema.deletes_first
            fails = not first and comparison.refused(stack, name)
            yield label, Outcome.FAIL if fails else Outcome.REPLACE
        elif before != comparison.properties(new, stack, name):
            yield label, Outcome.UPDATE
    for stack in old.keys() & new.keys():
        for name, definition in old[stack]["Resources"].items():
            if (stack, name) not in kept:
                yield _label(stack, definition), Outcome.REMOVE
        for name, definition in new[stack]["Resources"].items():
            if (stack, name) not in kept and comparison.refused(stack, name):
                yield _label(stack, definition), Outcome.FAIL
    after = comparison.exports(new)
    for name, (stack, value) in comparison.exports(old).items():
        changes = stack in new and after.get(name, ("", None))[1] != value
        if changes and _imported(name, old):
            yield f"{stack}/export", Outcome.FAIL


def _imported(name: str, templates: Templates) -> bool:
    return any(f"'Fn::ImportValue': '{name}'" in str(each) for each in templates.values())


def _label(stack: str, definition: Template) -> str:
    kind = definition["Type"]
    if kind != "AWS::IAM::Role":
        return f"{stack}/{kind}"
    trust = trust_of(definition["Properties"])
    services = {str(each["Principal"].get("Service", "service accounts")) for each in trust}
    return f"{stack}/{kind} for {', '.join(sorted(services))}"


def _exclude_each_other(kind: str, old: Any, new: Any) -> bool:  # noqa: ANN401 - properties
    schema = schema_of(kind)
    identifiers = () if schema is None else schema.identifiers
    for properties in (*identifiers, *_EXCLUSIVE.get(kind, ())):
        values = [values_at(new, path) for path in properties]
        if all(values) and values == [values_at(old, path) for path in properties]:
            return True
    if kind not in _ADDRESS_BLOCKS or old.get("VpcId") != new.get("VpcId"):
        return False
    blocks = (ipaddress.ip_network(each["CidrBlock"]) for each in (old, new))
    return next(blocks).overlaps(next(blocks))

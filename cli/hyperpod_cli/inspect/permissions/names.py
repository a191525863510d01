"""The names that a deployment's resources have, as patterns of a policy."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from aws_reference.resource_schemas import NAMED_BY_LOGICAL_ID, schema_of
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Resource, Value

_IN_SUB = re.compile(r"\$\{([^!}]+)\}")
_ANY = re.compile(r"\*+")
# Variables of the reference's ARNs that are a name, and the type that has it. Other variables are
# identifiers that a service draws.
_NAMED_TYPES = {
    "Alias": "AWS::KMS::Alias",
    "BucketName": "AWS::S3::Bucket",
    "ClusterName": "AWS::EKS::Cluster",
    "FunctionName": "AWS::Lambda::Function",
    "GroupNameWithPath": "AWS::IAM::Group",
    "InstanceProfileNameWithPath": "AWS::IAM::InstanceProfile",
    "LayerName": "AWS::Lambda::LayerVersion",
    "LogGroupName": "AWS::Logs::LogGroup",
    "PolicyNameWithPath": "AWS::IAM::ManagedPolicy",
    "RoleNameWithPath": "AWS::IAM::Role",
    "StateMachineName": "AWS::StepFunctions::StateMachine",
    "UserNameWithPath": "AWS::IAM::User",
}
# Types whose `ClusterName` is what they are added to.
_ADDED_TO = {"AWS::EKS::AccessEntry": "AWS::EKS::Cluster", "AWS::EKS::Addon": "AWS::EKS::Cluster"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """The names of a deployment's resources.

    Attributes:
        deployment: Name of the deployment, with which the names of its stacks begin.
        environment: Where it goes.
        resources: Every resource of its templates.
    """

    deployment: str
    environment: Environment
    resources: Sequence[Resource]

    def in_place_of(self, variable: str) -> tuple[str, ...]:
        """Return the patterns for a variable of the reference's ARNs, such as `LayerName`."""
        known: Mapping[str, str] = {
            "Partition": self.environment.partition,
            "Region": self.environment.region,
            "Account": self.environment.account,
        }
        if variable in known:
            return (known[variable],)
        resource_type = _NAMED_TYPES.get(variable)
        return ("*",) if resource_type is None else self.of_type(resource_type)

    def of_type(self, resource_type: str) -> tuple[str, ...]:
        """Return the patterns of the names of a type's resources."""
        found = {self._of(each) for each in self.resources if each.type == resource_type}
        patterns = {name for names in found for name in names}
        if not patterns:
            patterns = {*self._named_by_others(resource_type)} or {f"{self.deployment}-*"}
        covered = {
            name for name in patterns for other in patterns - {name} if fnmatchcase(name, other)
        }
        return tuple(sorted(patterns - covered))

    def _named_by_others(self, resource_type: str) -> Iterator[str]:
        """Yield the names of what no template makes, and resources are added to."""
        for resource in self.resources:
            if _ADDED_TO.get(resource.type) == resource_type:
                yield pattern(resource.properties["ClusterName"], self.environment)

    def _of(self, resource: Resource) -> tuple[str, ...]:
        schema = schema_of(resource.type)
        properties = () if schema is None else (*schema.names, *schema.required)
        named = [resource.properties[key] for key in properties if _names(key, resource)]
        if named:
            # In the ARN of an alias, what its name begins with stands before the variable.
            return (pattern(named[0], self.environment).removeprefix("alias/"),)
        generated = f"{self.deployment}-*"
        if resource.type in NAMED_BY_LOGICAL_ID:
            return generated, f"{resource.address.logical_id}*"
        return (generated,)


def _names(key: str, resource: Resource) -> bool:
    return key in resource.properties and key.endswith("Name")


def pattern(value: Value, environment: Environment) -> str:
    """Return a template's value, with `*` for what only CloudFormation knows."""
    return _ANY.sub("*", _text(value, environment))


def _text(value: Value, environment: Environment) -> str:
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, [*parts]]}:
            return str(separator).join(_text(part, environment) for part in parts)
        case {"Fn::Sub": str(text)}:
            return _IN_SUB.sub(lambda found: _known(found[1], environment), text)
        case {"Ref": str(name)}:
            return _known(name, environment)
        case _:
            return "*"


def _known(name: str, environment: Environment) -> str:
    known = {
        "Partition": environment.partition,
        "Region": environment.region,
        "AccountId": environment.account,
    }
    return known.get(name.removeprefix("AWS::"), "*")


def strings(value: Value, environment: Environment) -> Iterator[str]:
    """Yield every string in a template's value, as a pattern."""
    match value:
        case {"Fn::Join": _} | {"Fn::Sub": _} | str():
            yield pattern(value, environment)
        case Mapping():
            for item in value.values():
                yield from strings(item, environment)
        case list():
            for item in value:
                yield from strings(item, environment)

"""The names that a deployment's resources have, as patterns of a policy."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import NamedTuple

from aws_reference.action_resources import KIND_OF_TYPE, VARIABLE, filled
from aws_reference.resource_schemas import (
    NAMED_BY_LOGICAL_ID,
    NAMED_IN_LOWER_CASE,
    schema_of,
    tags_of,
)
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import TemplateResource, Value
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES, resource_type
from hyperpod_shared.owner import STACK_TAG
from hyperpod_stacks.table import STACKS

_IN_SUB = re.compile(r"\$\{([^!}]+)\}")
_ANY = re.compile(r"\*+")
_LAST = re.compile(r"(/\*)+$")
_NAMED_TYPES = {row.name_in_arn: name for name, row in RESOURCE_TYPES.items() if row.name_in_arn}
# Of `<stack>-<logical ID>` in the names that CloudFormation makes. It shortens both to what a type
# takes, 64 characters for roles and functions; where is not documented.
_KEPT, _KEPT_OF_LOGICAL_ID = 24, 8
_TAG = "aws:ResourceTag/"
# What IAM calls the service of a type, where that is not in the type's name.
_SERVICES = {"AWS::StepFunctions::StateMachine": "states"}
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-resource-tags.html
_STACK_NAME = "aws:cloudformation:stack-name"
# Names of what no configuration deploys, and a service role could make.
_OTHER_NAMES = ("GroupNameWithPath", "InstanceProfileNameWithPath", "UserNameWithPath")


class Condition(NamedTuple):
    """A condition of a statement: an operator such as `StringEquals`, a key, and its values."""

    operator: str
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """The names of a deployment's resources; those of its stacks begin with its own."""

    deployment: str
    environment: Environment
    resources: Sequence[TemplateResource]

    def in_place_of(self, variable: str) -> tuple[str, ...]:
        """Return the patterns for a variable of the reference's ARNs, such as `LayerName`."""
        known: Mapping[str, str] = {
            "Partition": self.environment.partition,
            "Region": self.environment.region,
            "Account": self.environment.account,
        }
        if variable in known:
            return (known[variable],)
        if variable == "StackName":
            # A deployment is compared with all that there may be of it, whatever the file has now.
            return tuple(sorted(f"{self.deployment}-{kind}" for kind in STACKS))
        if variable in _NAMED_TYPES:
            return self.of_type(_NAMED_TYPES[variable])
        # Other variables are identifiers that a service draws.
        return (f"{self.deployment}-*",) if variable in _OTHER_NAMES else ("*",)

    def arns(self, form: str, **given: tuple[str, ...]) -> Iterator[str]:
        """Yield a form of the reference with each combination of the patterns for its variables."""
        patterns = {
            variable: given[variable] if variable in given else self.in_place_of(variable)
            for variable in VARIABLE.findall(form)
        }
        for arn in filled(form, patterns):
            # CloudWatch Logs authorizes most actions on the ARN with `:*` behind the name:
            # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
            yield f"{arn.rstrip('*')}*" if ":log-group:" in arn else _LAST.sub("/*", arn)

    def are_in(self, form: str) -> bool:
        """Return whether the form of an ARN has a name that begins with the deployment's."""
        types = (_NAMED_TYPES.get(variable) for variable in VARIABLE.findall(form))
        return any(kind is not None and kind not in NAMED_BY_LOGICAL_ID for kind in types)

    def tag_of(self, kind: str, *, service: str) -> Condition | None:
        """Return the condition that only the templates' resources of a kind meet.

        None if there are none, or CloudFormation's tags do not reach them and they have none of
        the project's. EKS and SageMaker both have a kind `cluster`.
        """
        made = self.of_kind(kind, service=service)
        stacks = tuple(sorted({item.address.stack for item in made}))
        schemas = [schema for item in made if (schema := schema_of(item.type)) is not None]
        if made and all(STACK_TAG in tags_of(item.properties) for item in made):
            arn = partial(self.environment.arn, "cloudformation")
            ids = tuple(arn(f"stack/{stack}/*") for stack in stacks)
            return Condition("StringLike", f"{_TAG}{STACK_TAG}", ids)
        if schemas and all(schema.system_tags for schema in schemas):
            return Condition("StringEquals", f"{_TAG}{_STACK_NAME}", stacks)
        return None

    def of_kind(self, kind: str, *, service: str) -> list[TemplateResource]:
        """Return the resources of a kind."""
        return [
            item
            for item in self.resources
            if KIND_OF_TYPE.get(item.type) == kind
            and _SERVICES.get(item.type, item.type.split("::")[1].lower()) == service
        ]

    def have(self, service: str) -> bool:
        """Return whether the templates have resources whose types begin so."""
        return any(item.type.startswith(service) for item in self.resources)

    def made(self, name: str) -> list[TemplateResource]:
        """Return the resources of a type."""
        return [item for item in self.resources if item.type == name]

    def of_type(self, name: str) -> tuple[str, ...]:
        """Return the patterns of the names of a type's resources."""
        forms = {self._of(item) for item in self.made(name)}
        patterns = {name for names in forms for name in names}
        if not patterns:
            patterns = {*self._named_by_others(name)} or {f"{self.deployment}-*"}
        covered = {
            name for name in patterns for other in patterns - {name} if fnmatchcase(name, other)
        }
        return tuple(sorted(patterns - covered))

    def boundaries(self) -> tuple[str, ...]:
        """Return the permissions boundaries of the roles; none if a role has none."""
        roles = [role.properties for role in self.made("AWS::IAM::Role")]
        bounded = bool(roles) and all("PermissionsBoundary" in role for role in roles)
        return self._policies(role["PermissionsBoundary"] for role in roles) if bounded else ()

    def attached_policies(self) -> tuple[str, ...]:
        """Return the managed policies of the roles, as patterns of ARNs."""
        roles = (role.properties for role in self.made("AWS::IAM::Role"))
        return self._policies(arn for role in roles for arn in role.get("ManagedPolicyArns", ()))

    def _policies(self, arns: Iterable[Value]) -> tuple[str, ...]:
        patterns = {pattern(arn, self.environment) for arn in arns}
        if "*" in patterns:  # made by a template
            names = self.of_type("AWS::IAM::ManagedPolicy")
            patterns -= {"*"}
            patterns |= {self.environment.iam_arn(f"policy/{name}") for name in names}
        return tuple(sorted(patterns))

    def _named_by_others(self, added_to: str) -> Iterator[str]:
        """Yield the names of what no template makes, and resources are added to."""
        for resource in self.resources:
            if resource_type(resource.type).added_to == added_to:
                yield pattern(resource.properties.get("ClusterName"), self.environment)

    def _of(self, resource: TemplateResource) -> tuple[str, ...]:
        schema = schema_of(resource.type)
        # A node group has its cluster's name, too.
        last = resource_type(resource.type).name_in_arn or ""
        properties = () if schema is None else (last, *schema.names, *schema.required)
        given = resource.properties
        named = [given[key] for key in properties if key in given and key.endswith("Name")]
        if named:
            # In the ARN of an alias, what its name begins with stands before the variable.
            return (pattern(named[0], self.environment).removeprefix("alias/"),)
        stack, logical_id = resource.address.stack, resource.address.logical_id
        # A stack of another deployment may be called what this one's is, and a hyphen.
        generated = f"{stack}-{logical_id[:_KEPT_OF_LOGICAL_ID]}"[:_KEPT] + "*"
        if resource.type in NAMED_IN_LOWER_CASE:
            generated = generated.lower()
        if resource.type in NAMED_BY_LOGICAL_ID:
            return generated, f"{logical_id}*"
        return (generated,)


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
            return _IN_SUB.sub(lambda match: _known(match[1], environment), text)
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

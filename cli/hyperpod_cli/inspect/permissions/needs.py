"""What CloudFormation's execution role must be allowed, from the handlers' permissions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aws_reference.action_resources import VARIABLE, filled, forms, is_possible
from aws_reference.resource_schemas import (
    SERVICE_LINKED_ROLES,
    UnknownTypeError,
    schema_of,
    service_of_linked_role,
)
from hyperpod_cli.aws.assembly import Resource, Value
from hyperpod_cli.inspect.permissions.names import Names, pattern, strings

HANDLERS = ("create", "read", "update", "delete")
_LAST = re.compile(r"(/\*)+$")
KEY = re.compile(r"arn:[\w-]+:kms:[^:]*:[^:]*:key/.+")
# As the API takes it in addition to the ARN.
KEY_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32}")
_KEY_FORM = "arn:${Partition}:kms:${Region}:${Account}:key/${KeyId}"
# Such as KmsKeyId, VolumeKmsKeyId, and KeyArn of a Provider.
_KEY_PROPERTY = re.compile(r"(?i)kms.*key|^keyarn$")
_OWN_ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/.+")
# The services to which a type passes roles that no template makes.
_PASSED_TO = {
    "AWS::SageMaker::Cluster": ("hyperpod.sagemaker.amazonaws.com", "sagemaker.amazonaws.com")
}
_S3_URI = re.compile(r"s3://([^/]+).*")
_OWN_BUCKETS = ("AWS::S3::Bucket", "AWS::S3::BucketPolicy")
_FROM_SYSTEMS_MANAGER = "AWS::SSM::Parameter::Value<"


Condition = tuple[str, tuple[str, ...]]
"""A condition key and the values that it may equal."""


@dataclass(frozen=True, order=True, kw_only=True, slots=True)
class Need:
    """One action that must be allowed.

    Attributes:
        action: IAM action.
        resources: Patterns of ARNs.
        condition: Under which condition, if any.
    """

    action: str
    resources: tuple[str, ...]
    condition: Condition | None = None


def needs(templates: Mapping[str, Value], names: Names) -> Iterator[Need]:
    """Yield what deploying, updating and destroying templates takes, action by action.

    Args:
        templates: Template of each stack.
        names: The names of their resources.

    Raises:
        UnknownTypeError: Of a type, the schema or the service of its linked role is not known.
    """
    by_type: dict[str, list[Resource]] = {}
    for resource in names.resources:
        by_type.setdefault(resource.type, []).append(resource)
    by_type.pop("AWS::CDK::Metadata", None)  # makes nothing
    own = {type_: _actions(type_) for type_ in by_type if not _is_custom(type_)}
    if len(own) < len(by_type):
        yield Need(
            action="lambda:InvokeFunction",
            resources=tuple(_arns(forms("lambda:InvokeFunction")[0], names)),
        )
    for type_, actions in own.items():
        handlers = _Handlers(type=type_, resources=by_type[type_], names=names)
        for action in actions:
            yield from handlers.need(action)
    yield from _parameters(templates, names)


def _is_custom(resource_type: str) -> bool:
    return resource_type.startswith("Custom::")


def _actions(resource_type: str) -> list[str]:
    schema = schema_of(resource_type)
    if schema is None:
        raise UnknownTypeError(
            f"{resource_type}: its schema is not known; add the type to "
            "tools/generate/facts/resource_schemas.py, and run `make generate`."
        )
    named = {action for name in HANDLERS for action in schema.permissions.get(name, ())}
    return sorted(named)


def _parameters(templates: Mapping[str, Value], names: Names) -> Iterator[Need]:
    """Yield the right to read the parameters of a template that come from Systems Manager.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-supplied-parameter-types.html
    """
    parameters = {
        parameter["Default"].lstrip("/")
        for template in templates.values()
        for parameter in template.get("Parameters", {}).values()
        if parameter["Type"].startswith(_FROM_SYSTEMS_MANAGER)
    }
    environment = names.environment
    if parameters:
        prefix = (
            f"arn:{environment.partition}:ssm:{environment.region}:{environment.account}:parameter"
        )
        found = tuple(f"{prefix}/{name}" for name in sorted(parameters))
        yield Need(action="ssm:GetParameters", resources=found)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Handlers:
    """The handlers of one type.

    Attributes:
        type: The type.
        resources: The templates' resources of that type.
        names: The names of all resources.
    """

    type: str
    resources: Sequence[Resource]
    names: Names

    def need(self, action: str) -> Iterator[Need]:
        """Yield what a handler's action takes; nothing if the templates give it no object."""
        if not is_possible(action, self._texts):
            return
        match action:
            case "iam:PassRole":
                services = self._trusted()
                if services:
                    condition = ("iam:PassedToService", services)
                    arns = tuple(_arns(forms(action)[0], self.names))
                    yield Need(action=action, resources=arns, condition=condition)
                own = tuple(sorted(filter(_OWN_ROLE.fullmatch, self._texts)))
                if own and self.type in _PASSED_TO:
                    condition = ("iam:PassedToService", _PASSED_TO[self.type])
                    yield Need(action=action, resources=own, condition=condition)
            case "iam:CreateServiceLinkedRole":
                service = service_of_linked_role(self.type)
                condition = ("iam:AWSServiceName", (service,))
                arns = tuple(self._service_linked_roles())
                yield Need(action=action, resources=arns, condition=condition)
            case _ if action.startswith("kms:") and not self.type.startswith("AWS::KMS::"):
                keys = tuple(sorted(self._keys()))
                if keys:
                    yield Need(action=action, resources=keys)
            case _:
                yield Need(action=action, resources=tuple(sorted(set(self._objects(action)))))

    def _objects(self, action: str) -> Iterator[str]:
        found = forms(action, self._texts)
        for form in found:
            yield from _arns(form, self.names, BucketName=self._buckets())
            if "${RoleNameWithPath}" in form:
                yield from self._service_linked_roles()
        if not found:
            yield "*"

    def _keys(self) -> Iterator[str]:
        """Yield the ARNs of the KMS keys that the type's resources name."""
        for text in self._texts:
            if KEY.fullmatch(text):
                yield text
            elif KEY_ID.fullmatch(text):
                yield from _arns(_KEY_FORM, self.names, KeyId=(text,))
        if any(_refers_to_key(resource.properties) for resource in self.resources):
            yield from _arns(_KEY_FORM, self.names)

    def _service_linked_roles(self) -> Iterator[str]:
        service = SERVICE_LINKED_ROLES.get(self.type)
        if service is not None:
            environment = self.names.environment
            roles = f"arn:{environment.partition}:iam::{environment.account}:role"
            yield f"{roles}/aws-service-role/{service}/*"

    def _buckets(self) -> tuple[str, ...]:
        """Return the buckets that the type's resources name, such as that of a function's code."""
        named = {found[1] for each in self._strings() if (found := _S3_URI.fullmatch(each))}
        for resource in self.resources:
            for value in resource.properties.values():
                if isinstance(value, Mapping) and "S3Bucket" in value:
                    named.add(pattern(value["S3Bucket"], self.names.environment))
        if named and self.type not in _OWN_BUCKETS:
            return tuple(sorted(named))
        return self.names.of_type("AWS::S3::Bucket")

    @property
    def _texts(self) -> frozenset[str]:
        return frozenset(self._strings())

    def _strings(self) -> Iterator[str]:
        for resource in self.resources:
            yield from strings(resource.properties, self.names.environment)

    def _trusted(self) -> tuple[str, ...]:
        """Return the services that assume the roles which the type's resources name."""
        roles = {need for resource in self.resources for need in resource.needs}
        return tuple(
            sorted(
                {
                    pattern(statement["Principal"]["Service"], self.names.environment)
                    for role in self.names.resources
                    if role.type == "AWS::IAM::Role" and role.address in roles
                    for statement in role.properties["AssumeRolePolicyDocument"]["Statement"]
                }
            )
        )


def _refers_to_key(value: Value) -> bool:
    """Return whether a template's value has a KMS key that the templates make."""
    if isinstance(value, Mapping):
        return any(
            (_KEY_PROPERTY.search(name) is not None and isinstance(item, Mapping))
            or _refers_to_key(item)
            for name, item in value.items()
        )
    return isinstance(value, list) and any(map(_refers_to_key, value))


def _arns(form: str, names: Names, **own: tuple[str, ...]) -> Iterator[str]:
    """Yield a form of the reference with each combination of the patterns for its variables."""
    patterns = {
        variable: own.get(variable) or names.in_place_of(variable)
        for variable in VARIABLE.findall(form)
    }
    for arn in filled(form, patterns):
        # CloudWatch Logs authorizes most actions on the ARN with `:*` behind the name:
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
        yield f"{arn.rstrip('*')}*" if ":log-group:" in arn else _LAST.sub("/*", arn)

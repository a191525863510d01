"""What CloudFormation's execution role must be allowed, from the handlers' permissions."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from aws_reference.action_resources import (
    BOUNDARY,
    KIND_OF_TYPE,
    POLICY,
    VARIABLE,
    action_resources,
    forms,
    ids_of,
    is_possible,
)
from aws_reference.resource_schemas import (
    PASSES_ROLES_TO,
    SERVICE_LINKED_ROLES,
    UnknownTypeError,
    schema_of,
    service_of_linked_role,
)
from hyperpod_cli.aws.assembly import TemplateResource, Value, trust_of
from hyperpod_cli.inspect.permissions.names import Condition, Names, pattern, strings

HANDLERS = ("create", "read", "update", "delete")
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
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html
_AT_LAUNCH = Condition("StringEquals", "ec2:CreateAction", ("RunInstances",))
_S3_URI = re.compile(r"s3://([^/]+).*")
_MADE = "*"  # as a pattern, for what a template makes
_OWN_BUCKETS = ("AWS::S3::Bucket", "AWS::S3::BucketPolicy")
_FROM_SYSTEMS_MANAGER = "AWS::SSM::Parameter::Value<"


@dataclass(frozen=True, order=True, kw_only=True, slots=True)
class Need:
    """One action that must be allowed on patterns of ARNs, under all of the conditions."""

    action: str
    resources: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()


def needs(
    templates: Mapping[str, Value],
    names: Names,
    *,
    resources: Iterable[TemplateResource] | None = None,
    handlers: Iterable[str] = HANDLERS,
) -> Iterator[Need]:
    """Yield what deploying, updating and destroying templates takes, action by action.

    With resources, it is what these take, and with handlers, what these do.
    A type whose schema, or the service of whose linked role, is not known is an UnknownTypeError.
    """
    by_type: dict[str, list[TemplateResource]] = {}
    for resource in names.resources if resources is None else resources:
        by_type.setdefault(resource.type, []).append(resource)
    by_type.pop("AWS::CDK::Metadata", None)  # makes nothing
    handled = {
        type_: _actions(type_, handlers) for type_ in by_type if not type_.startswith("Custom::")
    }
    if len(handled) < len(by_type):
        yield Need(
            action="lambda:InvokeFunction",
            resources=tuple(names.arns(forms("lambda:InvokeFunction")["function"])),
        )
    for type_, actions in handled.items():
        of_type = _Handlers(type=type_, resources=by_type[type_], names=names)
        for action in actions:
            yield from of_type.need(action)
    yield from _parameters(templates, names)


def _actions(resource_type: str, handlers: Iterable[str]) -> list[str]:
    schema = schema_of(resource_type)
    if schema is None:
        raise UnknownTypeError(
            f"{resource_type}: no schema of it is known, nor what its handlers call; write the "
            "policies of a stack with this type by hand"
        )
    named = {action for name in handlers for action in schema.permissions.get(name, ())}
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
    if parameters:
        arn = partial(names.environment.arn, "ssm")
        arns = tuple(arn(f"parameter/{name}") for name in sorted(parameters))
        yield Need(action="ssm:GetParameters", resources=arns)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Handlers:
    """The handlers of one type, and the templates' resources of it."""

    type: str
    resources: Sequence[TemplateResource]
    names: Names

    def need(self, action: str) -> Iterator[Need]:
        """Yield what a handler's action takes; nothing if the templates give it no object."""
        if not is_possible(action, self._texts):
            return
        match action:
            case "ec2:RunInstances":
                launch = replace(self, resources=[*self.resources, *self._launched])
                yield from launch._on_each(action)
            case "ec2:CreateTags" if self._launched:
                yield from self._on_each(action)
                yield _need(action, self._tagged_at_launch(), _AT_LAUNCH)
            case "iam:PassRole":
                services = self._trusted()
                if services:
                    arns = tuple(self.names.arns(forms(action)["role"]))
                    yield _need(action, arns, _equals("iam:PassedToService", services))
                roles = tuple(sorted(filter(_OWN_ROLE.fullmatch, self._texts)))
                if roles and self.type in _PASSED_TO:
                    condition = _equals("iam:PassedToService", _PASSED_TO[self.type])
                    yield _need(action, roles, condition)
            case "iam:CreateServiceLinkedRole":
                condition = _equals("iam:AWSServiceName", (service_of_linked_role(self.type),))
                yield _need(action, tuple(self._service_linked_roles()), condition)
            # But for lists of keys, which are of none.
            case _ if self._is_of_keys(action):
                yield from self._uses_of_keys(action)
            case _:
                yield from self._on_each(action)

    def _is_of_keys(self, action: str) -> bool:
        is_of_kms = action.startswith("kms:") and bool(forms(action))
        return is_of_kms and not self.type.startswith("AWS::KMS::")

    def _on_each(self, action: str) -> Iterator[Need]:
        """Yield what an action takes on the kinds of resources that it is done to."""
        arn_forms = self._forms(action)
        for kind, form in arn_forms.items():
            yield from self._on(action, kind=kind, form=form)
        if not arn_forms:
            yield _need(action, ("*",))

    def _forms(self, action: str) -> Mapping[str, str]:
        """Return the forms of the ARNs of what an action is done to, by kind."""
        arn_forms, kind = forms(action, self._texts), KIND_OF_TYPE.get(self.type)
        # Such as a tag, which may be on any kind.
        any_kind = kind in arn_forms and not action_resources()[action].required
        return {kind: arn_forms[kind]} if kind is not None and any_kind else arn_forms

    def _on(self, action: str, *, kind: str, form: str) -> Iterator[Need]:
        """Yield what an action takes on one kind of resources."""
        known = action_resources()[action]
        linked = tuple(self._service_linked_roles()) if kind == "role" else ()
        if linked:
            yield _need(action, linked)
        if kind == "role" and kind in known.tagged:
            # A service changes nothing but the role that it makes for itself.
            if not linked:
                yield from self._on_roles(action, form=form)
            return
        arns = tuple(self.names.arns(form, BucketName=self._buckets()))
        named = self._named(kind, form=form)
        if kind not in known.tagged or self.names.are_in(form):
            # No template makes a reservation of capacity.
            yield _need(action, named if named and kind not in KIND_OF_TYPE.values() else arns)
            return
        tag = self.names.tag_of(kind, service=action.partition(":")[0])
        if named:
            yield _need(action, named)
        if tag is not None:
            yield _need(action, arns, self._if_there(tag, action=action, kind=kind))
        elif not named and (kind in known.required or self._may_be(kind)):
            yield _need(action, arns)

    def _on_roles(self, action: str, *, form: str) -> Iterator[Need]:
        """Yield what a change of a role takes: its boundary, and no policies but the templates'."""
        boundaries, policies = self.names.boundaries(), self.names.attached_policies()
        keys = action_resources()[action].keys
        # Who takes a boundary away is an administrator.
        if action == "iam:DeleteRolePermissionsBoundary" or (POLICY in keys and not policies):
            return
        if action == "iam:PutRolePermissionsBoundary" and not boundaries:
            return
        conditions = [Condition("ArnLike", POLICY, policies)] if POLICY in keys else []
        if BOUNDARY in keys and boundaries:
            conditions.append(Condition("ArnLike", BOUNDARY, boundaries))
        yield _need(action, tuple(self.names.arns(form)), *conditions)

    def _named(self, kind: str, *, form: str) -> tuple[str, ...]:
        """Return the ARNs of what the type's resources name, and no template makes."""
        drawn = VARIABLE.findall(form)[-1]
        ids = tuple(sorted(ids_of(kind, self._texts)))
        return tuple(self.names.arns(form, **{drawn: ids})) if ids else ()

    def _may_be(self, kind: str) -> bool:
        """Return whether the templates make a kind of resources, or only name it otherwise."""
        return KIND_OF_TYPE.get(self.type) == kind or kind not in KIND_OF_TYPE.values()

    def _if_there(self, tag: Condition, *, action: str, kind: str) -> Condition:
        """Return the condition on a tag, met by what has none where it may not be there yet.

        A handler may tag what it makes with its last call: https://github.com/aws/aws-cdk/issues/13204.
        For keys, KMS takes minutes to know of a tag: https://docs.aws.amazon.com/kms/latest/developerguide/abac.html.
        """
        schema = schema_of(self.type)
        permissions = {} if schema is None else schema.permissions
        making = KIND_OF_TYPE.get(self.type) == kind and action in permissions.get("create", ())
        late = kind == "key" and action not in permissions.get("delete", ())
        return tag._replace(operator=f"{tag.operator}IfExists") if making or late else tag

    def _uses_of_keys(self, action: str) -> Iterator[Need]:
        """Yield what an action takes on the KMS keys of the type's resources."""
        keys = tuple(sorted(self._keys()))
        if keys:
            yield _need(action, keys)
        if any(_refers_to_key(resource.properties) for resource in self.resources):
            tag = self.names.tag_of("key", service="kms")
            conditions = () if tag is None else (self._if_there(tag, action=action, kind="key"),)
            yield _need(action, tuple(self.names.arns(_KEY_FORM)), *conditions)

    def _keys(self) -> Iterator[str]:
        """Yield the ARNs of the KMS keys that the type's resources name, and no template makes."""
        for text in self._texts:
            if KEY.fullmatch(text):
                yield text
            elif KEY_ID.fullmatch(text):
                yield from self.names.arns(_KEY_FORM, KeyId=(text,))

    def _service_linked_roles(self) -> Iterator[str]:
        service = SERVICE_LINKED_ROLES.get(self.type)
        if service is not None:
            yield self.names.environment.iam_arn(f"role/aws-service-role/{service}/*")

    def _buckets(self) -> tuple[str, ...]:
        """Return the buckets that the type's resources name, such as that of a function's code."""
        named = {match[1] for text in self._strings() if (match := _S3_URI.fullmatch(text))}
        if _MADE in named:
            named = named - {_MADE} | {*self.names.of_type("AWS::S3::Bucket")}
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

    @property
    def _launched(self) -> list[TemplateResource]:
        """Return the launch templates that the type's resources name.

        EKS tries a launch with the rights of who makes a node group, and so needs those on what
        the template names: https://github.com/aws/containers-roadmap/issues/1602
        """
        needed = {need for resource in self.resources for need in resource.needs}
        made = self.names.made("AWS::EC2::LaunchTemplate")
        return [item for item in made if item.address in needed]

    def _tagged_at_launch(self) -> list[str]:
        """Return the ARNs of what launch templates give tags."""
        kinds = {
            item["ResourceType"]
            for template in self._launched
            for item in template.properties["LaunchTemplateData"].get("TagSpecifications", ())
        }
        known = action_resources()["ec2:CreateTags"].optional
        return [arn for kind in kinds for arn in self.names.arns(known[kind])]

    def _trusted(self) -> tuple[str, ...]:
        """Return the services that assume the roles which the type's resources name."""
        roles = {need for resource in self.resources for need in resource.needs}
        return tuple(
            sorted(
                {
                    pattern(statement["Principal"]["Service"], self.names.environment)
                    for role in self.names.made("AWS::IAM::Role")
                    if role.address in roles
                    for statement in trust_of(role.properties)
                    if "Service" in statement["Principal"]
                }.union(PASSES_ROLES_TO.get(self.type, ()))
            )
        )


def _need(action: str, arns: Collection[str], *conditions: Condition) -> Need:
    return Need(action=action, resources=tuple(sorted({*arns})), conditions=conditions)


def _equals(key: str, values: tuple[str, ...]) -> Condition:
    return Condition("StringEquals", key, values)


def _refers_to_key(value: Value) -> bool:
    """Return whether a template's value has a KMS key that the templates make."""
    if isinstance(value, Mapping):
        return any(
            (_KEY_PROPERTY.search(name) is not None and isinstance(item, Mapping))
            or _refers_to_key(item)
            for name, item in value.items()
        )
    return isinstance(value, list) and any(map(_refers_to_key, value))

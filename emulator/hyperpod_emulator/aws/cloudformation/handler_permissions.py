"""What CloudFormation's handlers of a resource ask of IAM.

A handler calls AWS with the rights of the stack's role. Which actions it may call, its schema says;
on which resources, the Service Authorization Reference. Identifiers that a service draws are made
up: no policy can know them beforehand.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aws_reference.action_resources import (
    BOUNDARY,
    KIND_OF_TYPE,
    POLICY,
    VARIABLE,
    action_resources,
    filled,
    ids_of,
)
from aws_reference.resource_schemas import (
    NAMED_BY_LOGICAL_ID,
    NAMED_IN_LOWER_CASE,
    PASSES_ROLES_TO,
    SERVICE_LINKED_ROLES,
    ResourceSchema,
    schema_of,
    service_of_linked_role,
    tags_of,
    values_at,
)
from hyperpod_emulator.aws.iam.authorization import Permission

Properties = Mapping[str, Any]

_BOUNDARY = "PermissionsBoundary"
_ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/.+")
# Where a resource's properties give a name for a variable of the reference's ARNs.
_NAMES = {
    "AlarmName": (("AlarmName",),),
    "Alias": (("AliasName",),),
    "BucketName": (
        ("Bucket",),
        ("BucketName",),
        ("Code", "S3Bucket"),
        ("Content", "S3Bucket"),
        ("DataRepositoryPath",),
    ),
    "BudgetName": (("Budget", "BudgetName"),),
    # A HyperPod cluster's own name is in no ARN.
    "ClusterName": (("Orchestrator", "Eks", "ClusterArn"), ("ClusterName",), ("Name",)),
    "DashboardName": (("DashboardName",),),
    "DbInstanceName": (("DBInstanceIdentifier",),),
    "FunctionName": (("FunctionName",),),
    "NodegroupName": (("NodegroupName",),),
    "ParameterNameWithoutLeadingSlash": (("Name",),),
    "ProjectName": (("Name",),),
    "RepositoryName": (("RepositoryName",),),
    "LayerName": (("LayerName",),),
    "LogGroupName": (("LogGroupName",),),
    "RuleName": (("Name",),),
    "TableName": (("TableName",),),
    "RoleNameWithPath": (("RoleName",), ("Roles", "*")),
    "StateMachineName": (("StateMachineName",),),
    "SubnetGroupName": (("DBSubnetGroupName",),),
    "TopicName": (("TopicName",), ("TopicArn",), ("Topics", "*")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a stack has made: its tags, CloudFormation's included, and its resolved properties."""

    type: str
    tags: Mapping[str, str]
    properties: Properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """A resource that a handler is called for.

    Attributes:
        logical_id: Its name in the template.
        former: Those that it had before an update.
        made: Returns what has an ID, if a stack has made it.
    """

    type: str
    stack: str
    logical_id: str
    properties: Properties
    region: str
    account: str
    former: Properties = field(default_factory=dict)
    made: Callable[[str], Made | None] = lambda _id: None

    @property
    def tags(self) -> Mapping[str, str]:
        """The resource's tags, once it has been made.

        https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-resource-tags.html
        """
        schema = schema_of(self.type)
        if schema is None:
            return {}
        tags = tags_of(self.properties)
        return tags | ({"aws:cloudformation:stack-name": self.stack} if schema.system_tags else {})

    def permissions(
        self, operation: str, *, trusted: Callable[[str], list[str]]
    ) -> Iterator[Permission]:
        """Yield what a handler (`create`, `update`, `delete`) asks for.

        It is nothing for a type whose schema is not known. `trusted` returns the services that may
        assume a role.
        """
        if self.type.startswith("Custom::") or self.type == "AWS::CloudFormation::CustomResource":
            token = str(self.properties.get("ServiceToken"))
            yield Permission(action="lambda:InvokeFunction", resource=token)
            return
        schema = schema_of(self.type)
        if schema is None:
            return
        # CloudFormation reads a resource after it has made or changed it.
        handlers = (operation,) if operation == "delete" else (operation, "read")
        actions = {action for each in handlers for action in schema.permissions.get(each, ())}
        for action in sorted(actions):
            for each in self._of(action, schema=schema, trusted=trusted):
                context = {**each.context, **self._context(each.resource, operation=operation)}
                yield replace(each, context=context)

    def _context(self, arn: str, *, operation: str) -> Mapping[str, str]:
        """Return the tags of a resource; none of what is being made, which may get them last.

        https://github.com/aws/aws-cdk/issues/13204
        """
        other = self.made(re.split("[:/]", arn)[-1])
        if other is None and operation == "create":
            return {}
        tags = other.tags if other is not None else self.tags
        return {f"aws:ResourceTag/{key}": value for key, value in tags.items()}

    def _of(
        self, action: str, *, schema: ResourceSchema, trusted: Callable[[str], list[str]]
    ) -> Iterator[Permission]:
        match action:
            case "iam:PassRole":
                for role in filter(_ROLE.fullmatch, _strings(self.properties)):
                    for service in (*trusted(role), *PASSES_ROLES_TO.get(self.type, ())):
                        context = {"iam:PassedToService": service}
                        yield Permission(action=action, resource=role, context=context)
            case "iam:CreateServiceLinkedRole":
                context = {"iam:AWSServiceName": service_of_linked_role(self.type)}
                role = self._service_linked_role()
                yield Permission(action=action, resource=role, context=context)
            case "iam:PutRolePermissionsBoundary" | "iam:DeleteRolePermissionsBoundary":
                before, now = (each.get(_BOUNDARY) for each in (self.former, self.properties))
                if before != now and (now is None) == action.startswith("iam:Delete"):
                    yield from self._on_roles(action, schema=schema)
            case _ if action_resources().get(action) and action_resources()[action].keys:
                yield from self._on_roles(action, schema=schema)
            case _:
                is_launch = action in action_resources() and action_resources()[action].launches
                handled = self._with_launch_templates() if is_launch else self
                for arn in handled._arns(action, schema=schema):
                    yield Permission(action=action, resource=arn)

    def _on_roles(self, action: str, *, schema: ResourceSchema) -> Iterator[Permission]:
        """Yield a permission for each role, and each managed policy that it gets or loses."""
        asked = self.properties if action == "iam:PutRolePermissionsBoundary" else self.former
        boundary = (asked or self.properties).get(_BOUNDARY)
        context = {} if boundary is None else {BOUNDARY: boundary}
        policies: list[dict[str, str]] = [{}]
        if POLICY in action_resources()[action].keys and self.type == "AWS::IAM::Role":
            policies = [{POLICY: arn} for arn in self.properties.get("ManagedPolicyArns", ())]
        for arn in self._arns(action, schema=schema):
            for policy in policies:
                yield Permission(action=action, resource=arn, context={**context, **policy})

    def _arns(self, action: str, *, schema: ResourceSchema) -> Iterator[str]:
        known = action_resources().get(action)
        if known is None:  # younger than the reference
            yield "*"
            return
        known = known.among(set(_strings(self.properties)))
        if not known.is_possible:
            return
        own = KIND_OF_TYPE.get(self.type, "")
        forms = dict(known.required)
        if own in known.optional:
            forms[own] = known.optional[own]
        if not forms:
            kinds = (kind for kind in known.optional if kind in known.kinds)
            forms = {
                kind: known.optional[kind] for kind in kinds if self._names(known.optional[kind])
            }
        if known.required or own not in known.optional:
            forms |= {kind: form for kind, form in known.optional.items() if self._ids(kind)}
        if not known.required and not known.optional:
            yield "*"
        for kind, form in forms.items():
            yield from self._filled(kind, form, schema=schema)

    def _filled(self, kind: str, form: str, *, schema: ResourceSchema) -> Iterator[str]:
        """Yield the ARNs of a form, with the names or the ARNs that the properties give."""
        values = {
            "Partition": ["aws"],
            "Region": [self.region],
            "Account": [self.account],
        }
        *_, last = VARIABLE.findall(form)
        if kind != KIND_OF_TYPE.get(self.type) and (ids := self._ids(kind)):
            values[last] = ids
        for variable in VARIABLE.findall(form):
            values.setdefault(variable, self._given(variable))
        unknown = [variable for variable, found in values.items() if not found]
        if unknown and kind == KIND_OF_TYPE.get(self.type):
            name = schema.given_name(self.properties) or self._generated()
            values |= {variable: [name] for variable in unknown}
        elif unknown:
            fits = re.compile(".+".join(re.escape(part) for part in VARIABLE.split(form)[::2]))
            named = [each for each in _strings(self.properties) if fits.fullmatch(each)]
            if kind == "role" and not named and self.type in SERVICE_LINKED_ROLES:
                named = [self._service_linked_role()]
            # What the properties do not name, the handler does not call for.
            yield from dict.fromkeys(named)
            return
        for arn in filled(form, values):
            yield arn
            if kind == "log-group":
                # Most actions are authorized on the ARN with `:*` behind the name:
                # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
                yield f"{arn}:*"

    def _with_launch_templates(self) -> "Handled":
        """Return the same with what the launch templates say that the properties name."""
        named = map(self.made, _strings(self.properties))
        templates = [
            each.properties
            for each in named
            if each is not None and each.type == "AWS::EC2::LaunchTemplate"
        ]
        return replace(self, properties={**self.properties, "LaunchTemplates": templates})

    def _ids(self, kind: str) -> list[str]:
        """Return the IDs of another kind that the properties name."""
        texts = [*_strings(self.properties)]
        made = {each: self.made(each) for each in texts}
        own = [
            each
            for each, other in made.items()
            if other is not None and KIND_OF_TYPE.get(other.type) == kind
        ]
        return [*dict.fromkeys((*own, *ids_of(kind, texts)))]

    def _names(self, form: str) -> bool:
        """Return whether the properties name what a form of an ARN is of."""
        return any(self._given(each) for each in VARIABLE.findall(form) if each in _NAMES)

    def _given(self, variable: str) -> list[str]:
        """Return the names that the properties give; made up for what is no name."""
        if variable not in _NAMES:
            return [] if variable == "KeyId" else ["x"]
        found = (values_at(self.properties, path) for path in _NAMES[variable])
        return [_name_in(value) for value in next(filter(None, found), [])]

    def _service_linked_role(self) -> str:
        path = f"aws-service-role/{service_of_linked_role(self.type)}"
        return f"arn:aws:iam::{self.account}:role/{path}/AWSServiceRole"

    def _generated(self) -> str:
        """Return the name that CloudFormation gives the resource; MiniStack gives others."""
        prefix = "" if self.type in NAMED_BY_LOGICAL_ID else f"{self.stack}-"
        name = f"{prefix}{self.logical_id}-1A2B3C4D5E6F"
        return name.lower() if self.type in NAMED_IN_LOWER_CASE else name


def _name_in(value: str) -> str:
    """Return the name in a property, which may be the URI or the ARN of what has it."""
    if value.startswith("s3://"):
        return value.split("/")[2]
    if value.startswith("alias/"):
        return value.removeprefix("alias/")
    return re.split("[/:]", value)[-1] if value.startswith("arn:") else value


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)

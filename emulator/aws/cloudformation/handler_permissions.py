"""What CloudFormation's handlers of a resource ask of IAM.

A handler calls AWS with the rights of the stack's role. Which actions it may call, its schema says;
on which resources, the Service Authorization Reference. Identifiers that a service draws are made
up: no policy can know them beforehand.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aws_reference.action_resources import VARIABLE, action_resources, filled
from aws_reference.resource_schemas import (
    NAMED_BY_LOGICAL_ID,
    SERVICE_LINKED_ROLES,
    ResourceSchema,
    schema_of,
    service_of_linked_role,
    values_at,
)
from emulator.aws.iam.authorization import Permission

Properties = Mapping[str, Any]

_ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/.+")
# The kind of resource, in the terms of the reference, that a type makes and its tags are on.
_KINDS = {
    "AWS::EC2::EIP": "elastic-ip",
    "AWS::EC2::FlowLog": "vpc-flow-log",
    "AWS::EC2::InternetGateway": "internet-gateway",
    "AWS::EC2::NatGateway": "natgateway",
    "AWS::EC2::RouteTable": "route-table",
    "AWS::EC2::SecurityGroup": "security-group",
    "AWS::EC2::Subnet": "subnet",
    "AWS::EC2::VPC": "vpc",
    "AWS::EC2::VPCEndpoint": "vpc-endpoint",
    "AWS::EKS::AccessEntry": "access-entry",
    "AWS::EKS::Addon": "addon",
    "AWS::EKS::Cluster": "cluster",
    "AWS::EKS::PodIdentityAssociation": "podidentityassociation",
    "AWS::FSx::DataRepositoryAssociation": "association",
    "AWS::FSx::FileSystem": "file-system",
    "AWS::IAM::ManagedPolicy": "policy",
    "AWS::IAM::Role": "role",
    "AWS::KMS::Alias": "alias",
    "AWS::KMS::Key": "key",
    "AWS::Lambda::Function": "function",
    "AWS::Lambda::LayerVersion": "layerVersion",
    "AWS::Logs::LogGroup": "log-group",
    "AWS::Route53Resolver::FirewallDomainList": "firewall-domain-list",
    "AWS::Route53Resolver::FirewallRuleGroup": "firewall-rule-group",
    "AWS::Route53Resolver::FirewallRuleGroupAssociation": "firewall-rule-group-association",
    "AWS::S3::Bucket": "bucket",
    "AWS::SageMaker::Cluster": "cluster",
    "AWS::StepFunctions::StateMachine": "statemachine",
}
# Where a resource's properties give a name for a variable of the reference's ARNs.
_NAMES = {
    "Alias": (("AliasName",),),
    "BucketName": (
        ("Bucket",),
        ("BucketName",),
        ("Code", "S3Bucket"),
        ("Content", "S3Bucket"),
        ("DataRepositoryPath",),
    ),
    # A HyperPod cluster's own name is in no ARN.
    "ClusterName": (("Orchestrator", "Eks", "ClusterArn"), ("ClusterName",), ("Name",)),
    "FunctionName": (("FunctionName",),),
    "LayerName": (("LayerName",),),
    "LogGroupName": (("LogGroupName",),),
    "RoleNameWithPath": (("RoleName",), ("Roles", "*")),
    "StateMachineName": (("StateMachineName",),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """A resource that a handler is called for.

    Attributes:
        type: Its type.
        stack: Name of its stack.
        logical_id: Its name in the template.
        properties: Its properties, resolved.
        region: Where it is.
        account: Whose it is.
    """

    type: str
    stack: str
    logical_id: str
    properties: Properties
    region: str
    account: str

    def permissions(
        self, operation: str, *, trusted: Callable[[str], list[str]]
    ) -> Iterator[Permission]:
        """Yield what a handler asks for; nothing for a type whose schema is not known.

        Args:
            operation: Of the handler: `create`, `update` or `delete`.
            trusted: Returns the services that may assume a role.
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
            yield from self._of(action, schema=schema, trusted=trusted)

    def _of(
        self, action: str, *, schema: ResourceSchema, trusted: Callable[[str], list[str]]
    ) -> Iterator[Permission]:
        match action:
            case "iam:PassRole":
                for role in filter(_ROLE.fullmatch, _strings(self.properties)):
                    for service in trusted(role):
                        context = {"iam:PassedToService": service}
                        yield Permission(action=action, resource=role, context=context)
            case "iam:CreateServiceLinkedRole":
                context = {"iam:AWSServiceName": service_of_linked_role(self.type)}
                role = self._service_linked_role()
                yield Permission(action=action, resource=role, context=context)
            case _:
                for arn in self._arns(action, schema=schema):
                    yield Permission(action=action, resource=arn)

    def _arns(self, action: str, *, schema: ResourceSchema) -> Iterator[str]:
        known = action_resources().get(action)
        if known is None:  # younger than the reference
            yield "*"
            return
        known = known.among(set(_strings(self.properties)))
        if not known.is_possible:
            return
        own = _KINDS.get(self.type, "")
        forms = dict(known.required)
        if own in known.optional:
            forms[own] = known.optional[own]
        if not forms:
            kinds = (kind for kind in known.optional if kind in known.kinds)
            forms = {
                kind: known.optional[kind] for kind in kinds if self._names(known.optional[kind])
            }
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
        for variable in VARIABLE.findall(form):
            values.setdefault(variable, self._given(variable))
        unknown = [variable for variable, found in values.items() if not found]
        if unknown and kind == _KINDS.get(self.type):
            name = schema.given_name(self.properties) or self._generated()
            values |= {variable: [name] for variable in unknown}
        elif unknown:
            fits = re.compile(".+".join(re.escape(part) for part in VARIABLE.split(form)[::2]))
            named = [each for each in _strings(self.properties) if fits.fullmatch(each)]
            if named or kind == "key":
                yield from dict.fromkeys(named)
                return
            if kind == "role" and self.type in SERVICE_LINKED_ROLES:
                yield self._service_linked_role()
                return
            values |= {variable: [self._generated()] for variable in unknown}
        for arn in filled(form, values):
            yield arn
            if kind == "log-group":
                # Most actions are authorized on the ARN with `:*` behind the name:
                # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
                yield f"{arn}:*"

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
        return f"{prefix}{self.logical_id}-1A2B3C4D5E6F"


def _name_in(value: str) -> str:
    """Return the name in a property, which may be the URI or the ARN of what has it."""
    if value.startswith("s3://"):
        return value.split("/")[2]
    if value.startswith("alias/"):
        return value.removeprefix("alias/")
    return value.rpartition("/")[2] if value.startswith("arn:") else value


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)

"""What the Service Authorization Reference says of actions: their resources, and dependent actions.

The data file is written by `make generate`. The terms are those of
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from aws_reference.resource_schemas import ResourceSchema, schemas

DATA_FILE = Path(__file__).with_name("action_resources.json")
VARIABLE = re.compile(r"\$\{(\w+)\}")
"""A variable in the form of an ARN, such as `${SubnetId}`."""

# Kinds besides, with which instances are launched, and that no template makes.
_LAUNCHED = ("capacity-reservation", "group", "instance", "network-interface", "volume")

# What the reference calls other than CloudFormation does, and types whose tags have no property.
_OTHER_KINDS = {
    "AWS::APS::RuleGroupsNamespace": "rulegroupsnamespace",
    "AWS::Chatbot::SlackChannelConfiguration": "ChatbotConfiguration",
    "AWS::EC2::EIP": "elastic-ip",
    "AWS::EC2::FlowLog": "vpc-flow-log",
    "AWS::EC2::LaunchTemplate": "launch-template",
    "AWS::EC2::NatGateway": "natgateway",
    "AWS::EKS::PodIdentityAssociation": "podidentityassociation",
    "AWS::Events::Rule": "rule-on-default-event-bus",
    "AWS::FSx::DataRepositoryAssociation": "association",
    "AWS::IAM::ManagedPolicy": "policy",
    "AWS::KMS::Alias": "alias",
    "AWS::Lambda::LayerVersion": "layerVersion",
    "AWS::RDS::DBInstance": "db",
    "AWS::RDS::DBSubnetGroup": "subgrp",
    "AWS::StepFunctions::StateMachine": "statemachine",
}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def kinds_by_type(known: Mapping[str, ResourceSchema]) -> Mapping[str, str]:
    """Return the kind of resource, as the reference calls it, that each type with tags makes."""
    return {
        name: _OTHER_KINDS.get(name) or _WORD.sub("-", name.split("::")[2]).lower()
        for name, schema in known.items()
        if schema.tag_property is not None or name in _OTHER_KINDS
    }


KIND_OF_TYPE = kinds_by_type(schemas())
"""The kind of resource, in the terms of the reference, that a type makes and its tags are on."""

# Further kinds that a deployment makes or names.
_MORE_KINDS = {
    "cloudformation": ("stack",),
    "ec2": ("image", "snapshot"),
    "lambda": ("layer",),
    "s3": ("object",),
    "sagemaker": ("reserved-capacity", "training-plan"),
    # RDS makes one for a database, with the rights of who deploys it.
    # https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-secrets-manager.html
    "secretsmanager": ("Secret",),
}
_SERVICES = {"StepFunctions": "states"}


def kinds_by_service(kind_of_type: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return the kinds of resources that a deployment makes or names, by service."""
    kinds = defaultdict[str, list[str]](list)
    for resource_type, kind in kind_of_type.items():
        service = resource_type.split("::")[1]
        kinds[_SERVICES.get(service, service.lower())].append(kind)
    for service, further in _MORE_KINDS.items():
        kinds[service] += further
    return {service: tuple(sorted(found)) for service, found in kinds.items()}


KINDS = kinds_by_service(KIND_OF_TYPE)
"""The kinds of resources that a deployment makes or names, by service. An action that requires
another kind, such as a VPN gateway or a bucket of S3 Tables, has nothing to be done to."""

POLICY, BOUNDARY = KEYS_OF_ROLES = ("iam:PolicyARN", "iam:PermissionsBoundary")
"""Condition keys of the actions on roles."""

_ID_OF_KIND: Mapping[str, re.Pattern[str]] = {
    "capacity-reservation": re.compile(r"cr-[0-9a-f]+"),
    "file-system": re.compile(r"fs-[0-9a-f]+"),
    # Of capacity reservations.
    "group": re.compile(r"arn:[\w-]+:resource-groups:[\w-]+:\d{12}:group/(.+)"),
    "route-table": re.compile(r"rtb-[0-9a-f]+"),
    "security-group": re.compile(r"sg-[0-9a-f]+"),
    "subnet": re.compile(r"subnet-[0-9a-f]+"),
    "vpc": re.compile(r"vpc-[0-9a-f]+"),
}


def ids_of(kind: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield by which IDs texts of a template name resources of a kind, if it makes none of them."""
    if kind in _ID_OF_KIND:
        for found in filter(None, map(_ID_OF_KIND[kind].fullmatch, texts)):
            yield found[found.lastindex or 0]


_IMAGE = re.compile(r"ami-[0-9a-f]+")
_PLAN = re.compile(r"arn:.*:training-plan/.+")
# Kinds that only some deployments name, and what has that name: a custom AMI has snapshots,
# and a training plan has reserved capacity.
_IF_NAMED = {
    **{kind: _ID_OF_KIND[kind] for kind in ("capacity-reservation", "group")},
    "image": _IMAGE,
    "reserved-capacity": _PLAN,
    "snapshot": _IMAGE,
    "training-plan": _PLAN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResources:
    """What one action is allowed on.

    Attributes:
        required: Kinds of resources that each call is authorized on: the form of the ARN by kind,
            such as `arn:${Partition}:ec2:${Region}:${Account}:subnet/${SubnetId}`.
        optional: Kinds that a call is authorized on if it names such a resource.
        dependent: Actions that the caller must be allowed besides.
        tagged: Kinds of whose tags a condition can be, if the action changes something.
        keys: Which of `KEYS_OF_ROLES` a condition can have.
        kinds: Kinds that a deployment has.
    """

    required: Mapping[str, str]
    optional: Mapping[str, str]
    dependent: tuple[str, ...]
    tagged: frozenset[str]
    keys: frozenset[str]
    kinds: tuple[str, ...]

    def among(self, names: Collection[str]) -> "ActionResources":
        """Return the same without the kinds that nothing among the names is of."""
        # An instance that is launched has an image in any case: of AWS, without a name.
        there = {"image"} if self.launches else set()
        kinds = tuple(
            kind
            for kind in self.kinds
            if kind not in _IF_NAMED.keys() - there or any(map(_IF_NAMED[kind].fullmatch, names))
        )
        return replace(self, kinds=kinds)

    @property
    def launches(self) -> bool:
        """Whether instances are launched."""
        return "instance" in self.required

    @property
    def is_possible(self) -> bool:
        """Whether a deployment has every kind of resource that a call needs."""
        takes_any = not self.optional or bool(self.required)
        return self.required.keys() <= {*self.kinds} and (takes_any or bool(self._taken))

    @property
    def forms(self) -> Mapping[str, str]:
        """The forms of the ARNs that it may be called on in a deployment; none: on `*`."""
        return {**self.required, **self._taken}

    @property
    def _taken(self) -> dict[str, str]:
        return {kind: form for kind, form in self.optional.items() if kind in self.kinds}


@functools.cache
def action_resources() -> Mapping[str, ActionResources]:
    """Return what the data file says, by action; it has none that the reference does not know."""
    content = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    forms = content["forms"]

    def of(service: str, kinds: list[str]) -> dict[str, str]:
        return {kind: forms[f"{service}:{kind}"] for kind in kinds}

    found = {
        action: ActionResources(
            required=of(action.partition(":")[0], data.get("required", [])),
            optional=of(action.partition(":")[0], data.get("optional", [])),
            dependent=tuple(data.get("dependent", [])),
            tagged=frozenset(data.get("tagged", [])),
            keys=frozenset(data.get("keys", [])),
            kinds=KINDS.get(action.partition(":")[0], ()),
        )
        for action, data in content["actions"].items()
    }
    return {
        action: replace(each, kinds=(*each.kinds, *_LAUNCHED)) if each.launches else each
        for action, each in found.items()
    }


def is_possible(action: str, names: Collection[str]) -> bool:
    """Return whether there is what an IAM action is done to, as far as that is known.

    The names are texts in the templates, which name images and training plans if there are any.
    """
    known = action_resources().get(action)
    return known is None or known.among(names).is_possible


def forms(action: str, names: Collection[str] = ()) -> Mapping[str, str]:
    """Return the forms of the ARNs of an action by kind; none for `*`, and if it is not known."""
    known = action_resources().get(action)
    return {} if known is None else known.among(names).forms


def filled(form: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the form of an ARN with each combination of values for its variables."""
    for combination in product(*values.values()):
        arn = form
        for variable, value in zip(values, combination, strict=True):
            arn = arn.replace(f"${{{variable}}}", value)
        yield arn

"""What the Service Authorization Reference says of actions: their resources, and dependent actions.

The data file is written by `make generate`. The terms are those of
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html.
"""

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

DATA_FILE = Path(__file__).with_name("action_resources.json")
VARIABLE = re.compile(r"\$\{(\w+)\}")
"""A variable in the form of an ARN, such as `${SubnetId}`."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "ec2": (
        "elastic-ip",
        "image",
        "internet-gateway",
        "natgateway",
        "route-table",
        "security-group",
        "snapshot",
        "subnet",
        "vpc",
        "vpc-endpoint",
        "vpc-flow-log",
    ),
    "eks": ("access-entry", "addon", "cluster", "podidentityassociation"),
    "fsx": ("association", "file-system"),
    "iam": ("policy", "role"),
    "kms": ("alias", "key"),
    "lambda": ("function", "layer", "layerVersion"),
    "logs": ("log-group",),
    "route53resolver": (
        "firewall-domain-list",
        "firewall-rule-group",
        "firewall-rule-group-association",
    ),
    "s3": ("bucket", "object"),
    "sagemaker": ("cluster", "reserved-capacity", "training-plan"),
    "ssm": ("parameter",),
    "states": ("statemachine",),
}
"""The kinds of resources that a deployment makes or names. An action that requires another kind,
such as a VPN gateway or a bucket of S3 Tables, has nothing to be done to."""

_IMAGE = re.compile(r"ami-[0-9a-f]+")
_PLAN = re.compile(r"arn:.*:training-plan/.+")
# Kinds that only some deployments name, and what has that name: a custom AMI has snapshots,
# and a training plan has reserved capacity.
_IF_NAMED = {
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
        kinds: Kinds that a deployment has.
    """

    required: Mapping[str, str]
    optional: Mapping[str, str]
    dependent: tuple[str, ...]
    kinds: tuple[str, ...]

    def among(self, names: Collection[str]) -> "ActionResources":
        """Return the same without the kinds that nothing among the names is of."""
        kinds = tuple(
            kind
            for kind in self.kinds
            if kind not in _IF_NAMED or any(map(_IF_NAMED[kind].fullmatch, names))
        )
        return replace(self, kinds=kinds)

    @property
    def is_possible(self) -> bool:
        """Whether a deployment has every kind of resource that a call needs."""
        takes_any = not self.optional or bool(self.required)
        return self.required.keys() <= {*self.kinds} and (takes_any or bool(self._taken))

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of the ARNs that it may be called on in a deployment; none: on `*`."""
        return (*self.required.values(), *self._taken)

    @property
    def _taken(self) -> tuple[str, ...]:
        return tuple(form for kind, form in self.optional.items() if kind in self.kinds)


@functools.cache
def action_resources() -> Mapping[str, ActionResources]:
    """Return what the data file says, by action; it has none that the reference does not know."""
    content = json.loads(DATA_FILE.read_text(encoding="utf-8"))
    forms = content["forms"]

    def of(service: str, kinds: list[str]) -> dict[str, str]:
        return {kind: forms[f"{service}:{kind}"] for kind in kinds}

    return {
        action: ActionResources(
            required=of(action.partition(":")[0], data.get("required", [])),
            optional=of(action.partition(":")[0], data.get("optional", [])),
            dependent=tuple(data.get("dependent", [])),
            kinds=KINDS.get(action.partition(":")[0], ()),
        )
        for action, data in content["actions"].items()
    }


def is_possible(action: str, names: Collection[str]) -> bool:
    """Return whether there is what an action is done to, as far as that is known.

    Args:
        action: IAM action.
        names: Texts in the templates, which name images and training plans if there are any.
    """
    known = action_resources().get(action)
    return known is None or known.among(names).is_possible


def forms(action: str, names: Collection[str] = ()) -> tuple[str, ...]:
    """Return the forms of the ARNs of an action; none for `*`, and for one that is not known."""
    known = action_resources().get(action)
    return () if known is None else known.among(names).forms


def filled(form: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a form with each combination of values for its variables.

    Args:
        form: The form of an ARN.
        values: What may stand for each variable.
    """
    for combination in product(*values.values()):
        arn = form
        for variable, value in zip(values, combination, strict=True):
            arn = arn.replace(f"${{{variable}}}", value)
        yield arn

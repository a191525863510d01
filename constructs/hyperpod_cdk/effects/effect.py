"""What a change does, and the stacks before and after it: all that a section says it from."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hyperpod_cdk.schema.errors import KeyPath, key_path
from hyperpod_shared.clusters import Described

Template = Mapping[str, Any]
"""A template of CloudFormation; one that is deployed may be of any version, and odd."""
Properties = Mapping[str, Any]
# What only AWS knows. Two of them compare as equal: another name need not be another thing.
_REFERENCE = "<known once it is deployed>"
_FUNCTION = re.compile(r"Ref$|Fn::")


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """Something that a change does.

    Attributes:
        rule: What kind of effect it is, for programs: the section, a dot, what happens.
        text: The same for people.
        place: The key of the configuration that it comes from.
        resources: Logical IDs of the resources that it speaks of. Nothing else is said of them.
        group: The group whose nodes it terminates.
        ends: How many.
        is_managed: Whether that is an EKS node group.
        loses: Whether it deletes what users have made, or ends nodes that cannot be counted.
        stack: The stack; this and what follows the plan fills in.
        nodes: Lines about the nodes that end, and their pods.
        month: What its resources cost a month before and after, in USD; None if they are free.
        iam_actions: What CloudFormation's role must be allowed for its resources.
    """

    rule: str
    text: str
    place: KeyPath = ()
    resources: frozenset[str] = frozenset()
    group: str = ""
    ends: int = 0
    is_managed: bool = False
    loses: bool = False
    stack: str = ""
    nodes: tuple[str, ...] = ()
    month: tuple[Decimal, Decimal] | None = None
    iam_actions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return its words, its key, and how the cost changes, in one line."""
        place = f" [{key_path(self.place)}]" if self.place else ""
        before, after = self.month or (0, 0)
        cost = f", {before:,.2f} -> {after:,.2f} USD a month" if before != after else ""
        return f"{self.text}{cost}{place}"

    @property
    def needs_consent(self) -> bool:
        """Whether it ends nodes or loses data."""
        return bool(self.ends) or self.loses


@dataclass(frozen=True, kw_only=True, slots=True)
class StackState:
    """A stack before or after a change.

    Attributes:
        template: Its template; empty without a stack.
        cluster: What DescribeCluster says of the HyperPod cluster: empty without one, None if that
            is not known. Only of what is deployed.
        node_groups: What DescribeNodegroup says of the node groups in Capacity Blocks, by name:
            empty of one that is not there; those of which it is not known are left out.
    """

    template: Template
    cluster: Described | None = None
    node_groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of_type(self, *types: str) -> dict[str, Properties]:
        """Return the properties of the resources of some types, by logical ID, as plain values."""
        return {
            logical_id: plain_value(properties)
            for logical_id, kind, properties in resources_of(self.template)
            if kind in types
        }


def changes(
    former: StackState, wanted: StackState, *types: str
) -> Iterator[tuple[str, Properties | None, Properties | None]]:
    """Yield the resources of some types that change: ID, and properties before and after.

    What is made has none before, and what goes none after.
    """
    before, after = former.of_type(*types), wanted.of_type(*types)
    for logical_id in {**before, **after}:
        had, has = before.get(logical_id), after.get(logical_id)
        if had != has:
            yield logical_id, had, has


def resources_of(template: Template) -> Iterator[tuple[str, object, Properties]]:
    """Yield ID, type and properties of each resource; odd ones are left out."""
    resources = template.get("Resources")
    for logical_id, resource in resources.items() if isinstance(resources, Mapping) else ():
        if isinstance(resource, Mapping):
            properties = resource.get("Properties", {})
            if isinstance(properties, Mapping):
                yield logical_id, resource.get("Type"), properties


def properties_of(template: Template) -> Iterator[tuple[object, Properties]]:
    """Yield type and properties of each resource; odd ones are left out."""
    for _, kind, properties in resources_of(template):
        yield kind, properties


def plain_value(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value of a template, with one text for all that only AWS knows."""
    match value:
        case {"Fn::Join": [separator, [*parts]]}:
            return str(separator).join(str(plain_value(part)) for part in parts)
        case Mapping() if len(value) == 1 and _FUNCTION.match(next(iter(value))):
            return _REFERENCE
        case Mapping():
            return {key: plain_value(item) for key, item in value.items()}
        case [*items]:
            return [plain_value(item) for item in items]
        case _:
            return value

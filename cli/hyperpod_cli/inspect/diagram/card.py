"""A card of the picture, and what it may look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_cli.aws.assembly import Address, Stack, TemplateResource


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A box with text.

    Attributes:
        kind: What it is, as in `EKS cluster`.
        name: Which one, as in `ml-eks`; empty if its kind says it all.
        lines: What else there is to say.
        columns: Boxes inside it.
    """

    kind: str
    name: str = ""
    lines: tuple[str, ...] = ()
    columns: tuple["Column", ...] = ()

    @property
    def title(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """Boxes below each other inside another box.

    Attributes:
        title: The title, such as `usw2-az1`; may be empty.
        cards: The boxes from top to bottom.
    """

    title: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What a card may look at.

    Attributes:
        stack: The resource's stack.
        parts: What the picture shows inside the resource, itself included.
        hyperpod_subnets: Subnets of HyperPod clusters.
    """

    stack: Stack
    parts: Sequence[TemplateResource]
    hyperpod_subnets: frozenset[Address]

    @property
    def in_subnets(self) -> str:
        """What is in the subnets of HyperPod clusters."""
        types = (each.type for each in self.stack.resources.values())
        return "nodes and pods" if any(each.startswith("AWS::EKS::") for each in types) else "nodes"

    def of_type(self, resource_type: str) -> list[TemplateResource]:
        """List the parts of one type."""
        return [part for part in self.parts if part.type == resource_type]

"""A card of the picture, and what it may look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_cli.aws.assembly import Address, Stack, TemplateResource


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A box: its kind, as `EKS cluster`, its name if that is not all, lines, and inner boxes."""

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
    """Boxes from top to bottom inside another box; the title, such as `usw2-az1`, may be empty."""

    title: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What a card may look at: its stack, what it shows (with itself), and HyperPod's subnets."""

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

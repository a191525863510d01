"""A fabric between nodes, some of which or some links of which are slow."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


def names(count: int) -> tuple[str, ...]:
    """Return names of nodes, in their order."""
    return tuple(f"n{number:04}" for number in range(count))


@dataclass(frozen=True, kw_only=True, slots=True)
class Fabric:
    """What is slow.

    Attributes:
        slow: Nodes that slow down whoever they work with.
        links: Pairs of switches, each with its nodes, that are slow together.
    """

    slow: Collection[str] = ()
    links: Sequence[tuple[Collection[str], Collection[str]]] = ()

    def is_slow(self, group: Collection[str]) -> bool:
        """Say whether an operation of all nodes of a group is slow."""
        return any(node in self.slow for node in group) or any(
            any(node in one for node in group) and any(node in two for node in group)
            for one, two in self.links
        )

"""What becomes of the nodes of a group, of whichever kind it is."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect
from hyperpod_cdk.schema.errors import KeyPath


def of_removal(
    what: str, group: str, ends: int, *, place: KeyPath, is_managed: bool = False
) -> Effect:
    """Return what becomes of a group that is removed."""
    return Effect(
        rule="group.removed",
        text=f"{what}: removed{_ending(ends)}",
        place=place,
        group=group,
        ends=ends,
        is_managed=is_managed,
    )


def of_count(
    what: str, group: str, now: int, wanted: int, *, place: KeyPath, is_managed: bool = False
) -> Iterator[Effect]:
    """Yield what another number of nodes does, if it is another."""
    if wanted != now:
        ends = max(0, now - wanted)
        yield Effect(
            rule="group.count",
            text=f"{what}: {now} -> {wanted} nodes{_ending(ends)}",
            place=place,
            group=group,
            ends=ends,
            is_managed=is_managed,
        )


def _ending(ends: int) -> str:
    if not ends:
        return ""
    if ends == 1:
        return ", 1 node is terminated, with all its volumes"
    return f", {ends} nodes are terminated, with all their volumes"

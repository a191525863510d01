"""What remains of a deployment whose second-last step fails."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rehearsal.change.outcome import ResourceChange

_STUCK = ("UPDATE_ROLLBACK_FAILED", "ROLLBACK_FAILED", "UPDATE_FAILED", "CREATE_FAILED")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollback:
    """The end state after a failure.

    Attributes:
        step: What failed.
        is_only: Whether there is no other step.
        statuses: The status of each stack that was rolled back, or not even that.
        changes: What is not as before the deployment.
        ended: How many nodes have ended.
        nodes: How many there are.
    """

    step: ResourceChange
    is_only: bool
    statuses: Mapping[str, str]
    changes: Sequence[ResourceChange]
    ended: int
    nodes: int

    @property
    def is_stuck(self) -> bool:
        """Whether a stack takes no update before someone mends it."""
        return any(status in _STUCK for status in self.statuses.values())

    def lines(self) -> Iterator[str]:
        """Yield it as lines."""
        step = self.step
        which = "its only" if self.is_only else "the second-last"
        yield (
            f"If {which} step failed ({step.stack}: {step.name}, to be {step.action}), "
            "CloudFormation would leave:"
        )
        yield from (f"  {stack}: {status}" for stack, status in self.statuses.items())
        if not self.changes:
            yield "  every resource as it was"
        for each in self.changes:
            mark = ", and what it holds is lost" if each.loses else ""
            yield f"  {each.stack}: {each.name} ({each.type}) {each.action} nevertheless{mark}"
        ended = f"; {self.ended} of those from before have ended" if self.ended else ""
        yield f"  {self.nodes} nodes{ended}"
        if self.is_stuck:
            yield "  a stack that takes no update before its rollback is continued"

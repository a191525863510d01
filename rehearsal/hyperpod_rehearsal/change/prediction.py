"""What a changed configuration would do to a deployment: rehearsed, then told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hyperpod_cli.inspect.permissions.missing import MissingPermission
from hyperpod_rehearsal.change.nodes import EndingNodes
from hyperpod_rehearsal.change.outcome import ResourceChange

NOTHING_LOST, REFUSED_BY_AWS, LOSES = 0, 1, 4
_MOST_PODS, _MOST_NODES = 5, 10


_STUCK = ("UPDATE_ROLLBACK_FAILED", "ROLLBACK_FAILED", "UPDATE_FAILED", "CREATE_FAILED")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollback:
    """The end state after a step failed, which may be the only one.

    The statuses are of stacks that were rolled back, or not even that; the changes, what is not as
    before. So many nodes have ended, and so many there are.
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
        for change in self.changes:
            what = f"{change.stack}: {change.name} ({change.type}) {change.action}"
            yield f"  {what} nevertheless{change.mark}"
        ended = f"; {self.ended} of those from before have ended" if self.ended else ""
        yield f"  {self.nodes} nodes{ended}"
        if self.is_stuck:
            yield "  a stack that takes no update before its rollback is continued"


@dataclass(kw_only=True, slots=True)
class Prediction:
    """What a deployment would do to what an archive of `written` and `digest` has.

    The notes say what differs between the rehearsal and what is deployed; `error`, why it fails.
    The plan is that of `deploy`, as lines and as JSON; the changes, what the rehearsal did. The
    minutes are the most that CloudFormation takes, None if nothing changes; the rollback, what
    remains if the second-last step fails.
    """

    deployment: str
    place: str
    written: str
    digest: str
    notes: list[str] = field(default_factory=list)
    error: str = ""
    planned: Sequence[str] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)
    changes: Sequence[ResourceChange] = ()
    nodes: Sequence[EndingNodes] = ()
    missing: Sequence[MissingPermission] = ()
    minutes: int | None = None
    rollback: Rollback | None = None
    seconds: float = 0.0

    @property
    def code(self) -> int:
        """The exit code."""
        if self.error or self.missing:
            return REFUSED_BY_AWS
        lost = any(change.loses for change in self.changes) or any(
            node.pods for group in self.nodes for node in group.nodes
        )
        return LOSES if lost else NOTHING_LOST

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        nodes = [
            {
                "group": group.group,
                "ends": group.ends,
                "added": group.added,
                "of": [node.model_dump(mode="json") for node in group.nodes],
            }
            for group in self.nodes
        ]
        return {
            **asdict(replace(self, nodes=())),
            "changes": [{**asdict(change), "loses": change.loses} for change in self.changes],
            "nodes": nodes,
            "code": self.code,
            "text": "\n".join(self.lines()),
        }

    def lines(self) -> Iterator[str]:
        """Yield it as lines."""
        yield f"{self.deployment} in {self.place}, as archived at {self.written}"
        yield from (f"  {note}" for note in self.notes)
        if self.error:
            yield ""
            yield "The deployment fails:"
            yield from (f"  {line}" for line in self.error.splitlines())
        yield ""
        yield from self._change_lines()
        yield from self._node_lines()
        if self.missing:
            yield ""
            yield "CloudFormation's role, or who deploys, lacks these permissions:"
            yield from (f"  {permission}" for permission in self.missing)
        yield ""
        if self.minutes is not None:
            yield (
                f"It takes CloudFormation {self.minutes} minutes at the most, if an update takes "
                "as long as a creation."
            )
        if self.rollback is not None:
            yield ""
            yield from self.rollback.lines()
        yield ""
        yield f"{self._verdict()} Rehearsed in {self.seconds:.0f} s."

    def _change_lines(self) -> Iterator[str]:
        yield from self.planned
        if not self.changes:
            yield "No resource changes."
        for change in self.changes:
            if change.loses:
                yield f"{change.stack}: {change.name} ({change.type}) {change.action}{change.mark}"

    def _node_lines(self) -> Iterator[str]:
        for group in self.nodes:
            yield ""
            ends = f"{group.ends} of its nodes end" if group.ends else "no node ends"
            come = f", {group.added} new" if group.added else ""
            yield f"group {group.group}: {ends}{come}"
            if group.are_chosen:
                who, instead = (
                    ("EKS", "")
                    if group.is_managed
                    else ("HyperPod", "; `hyperpod-cdk delete` terminates those that you name")
                )
                yield f"  {who} chooses {group.ends} of these {len(group.nodes)}{instead}:"
            for node in group.nodes[:_MOST_NODES]:
                yield f"  {node.id}, {node.instance_type}, {node.status}"
                verb = "runs" if group.are_chosen else "ends"
                yield from (f"    {verb} pod {pod}" for pod in node.pods[:_MOST_PODS])
                if len(node.pods) > _MOST_PODS:
                    yield f"    and {len(node.pods) - _MOST_PODS} more pods"
            if len(group.nodes) > _MOST_NODES:
                yield f"  and {len(group.nodes) - _MOST_NODES} more nodes"

    def _verdict(self) -> str:
        return {
            NOTHING_LOST: "It would succeed, and nothing would be lost.",
            REFUSED_BY_AWS: "It would fail.",
            LOSES: "It would succeed, and what is marked above would be lost.",
        }[self.code]

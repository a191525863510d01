"""What AWS says about a cluster that fails or falls short: by group, instance and cause."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provisioner.hyperpod_causes import Cause, cause_of
from provisioner.hyperpod_groups import groups_of

Described = Mapping[str, Any]
_LOG_GROUP = "/aws/sagemaker/Clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that went wrong.

    Args:
        text: AWS's words.
        group: The instance group; None for the cluster itself.
        instance: The instance; None for the whole group.
    """

    text: str
    group: str | None = None
    instance: str | None = None

    @property
    def cause(self) -> Cause:
        """The kind of failure."""
        return cause_of(self.text)

    def __str__(self) -> str:
        where = ", ".join(
            f"{what} {name}"
            for what, name in (("group", self.group), ("instance", self.instance))
            if name
        )
        labels = ": ".join(part for part in (where, self.cause.name) if part)
        text = self.text.rstrip(". ")
        return f"{labels}: {text}" if labels else text

    def next_step(self, described: Described) -> str:
        """Return what to do, with the names of this cluster."""
        name = described.get("ClusterName", "")
        cluster_id = str(described.get("ClusterArn", "")).rpartition("/")[2]
        return self.cause.next_step.format(
            cluster=name,
            group=self.group or "of the node",
            log_group=f"{_LOG_GROUP}/{name}/{cluster_id}",
            log_stream=f"LifecycleConfig/{self.group or '<group>'}/{self.instance or '<instance>'}",
        )


def newest_of_each(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Keep the first of each group and cause: a launch that is retried fails alike each time."""
    kept: dict[tuple[str | None, str], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.group, finding.cause.name or finding.text), finding)
    return tuple(kept.values())


def shortages(described: Described) -> Iterator[str]:
    """Yield one text for each group with fewer nodes than it needs."""
    for name, group in groups_of(described).items():
        has, needs = group.get("CurrentCount", 0), nodes_needed(group)
        if has < needs:
            yield f"group {name} has {has} of {needs} nodes"


def nodes_needed(group: Mapping[str, Any]) -> int:
    """Return with how many nodes a group is complete: the least that was asked for, or all."""
    target: int = group.get("TargetCount", 0)
    return min(group.get("MinCount") or target, target)

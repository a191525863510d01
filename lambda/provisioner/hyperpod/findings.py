"""What AWS says about a cluster that fails or falls short: by group, instance and cause."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provisioner.hyperpod.causes import Cause, cause_of
from provisioner.hyperpod.groups import groups_of

Described = Mapping[str, Any]
_LOG_GROUP = "/aws/sagemaker/Clusters"
_LOG_STREAM = re.compile(r"LifecycleConfig/(?P<group>[\w-]+)/i-\w+")
_INSTANCE = re.compile(r"\bi-[0-9a-f]{8,17}\b")
_FAILED = "Failed"
_MOST_SHORTAGES = 3


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
        return self.cause.next_step.format(
            log_group=_log_group(described),
            log_stream=f"LifecycleConfig/{self.group or '<group>'}/{self.instance or '<instance>'}",
        )


def no_cause(described: Described) -> str:
    """Return what to do when AWS has not said why."""
    return (
        f"AWS names no cause: look at log group {_log_group(described)}, and at the nodes with "
        f"aws sagemaker list-cluster-nodes --cluster-name {described.get('ClusterName')}; then "
        "deploy again."
    )


def _log_group(described: Described) -> str:
    cluster_id = str(described.get("ClusterArn", "")).rpartition("/")[2]
    return f"{_LOG_GROUP}/{described.get('ClusterName', '')}/{cluster_id}"


def own_finding(described: Described) -> Finding | None:
    """Return what a cluster says of itself, with the group and instance that it is about.

    The message names the instance, if anything; the group shows by its state.
    """
    text = described.get("FailureMessage")
    if not text:
        return None
    stream = _LOG_STREAM.search(text)
    instance = _INSTANCE.search(text)
    failed = [
        name for name, group in groups_of(described).items() if group.get("Status") == _FAILED
    ]
    group = stream["group"] if stream else failed[0] if len(failed) == 1 else None
    return Finding(text=text, group=group, instance=instance[0] if instance else None)


def newest_of_each(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Keep the first of each group and cause: a launch that is retried fails alike each time."""
    kept: dict[tuple[str | None, str], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.group, finding.cause.name or finding.text), finding)
    return tuple(kept.values())


def shortages(described: Described) -> list[str]:
    """Return which groups have fewer nodes than they need, in a few short texts."""
    short = [
        f"group {name} has {group.get('CurrentCount', 0)} of {nodes_needed(group)} nodes"
        for name, group in groups_of(described).items()
        if group.get("CurrentCount", 0) < nodes_needed(group)
    ]
    told, others = short[:_MOST_SHORTAGES], len(short) - _MOST_SHORTAGES
    return [*told, f"{others} more groups are short of nodes"] if others > 0 else told


def nodes_needed(group: Mapping[str, Any]) -> int:
    """Return with how many nodes a group is complete: the least that was asked for, or all."""
    target: int = group.get("TargetCount", 0)
    return min(group.get("MinCount") or target, target)

"""What is said of a finding, and whether anything is: a table, and nothing that calls out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.clusters import ClusterStatus, Described, awaits_plan, present_groups
from hyperpod_shared.failures import UNKNOWN, ReportedFailure, own_message
from hyperpod_shared.node_group_health import Issue, causing, issues_of
from notifier.findings import Finding, What

# HyperPod's words when it says nothing of a cause: hyperpod-mental-model.md.
SAYS_NOTHING = "Request to service failed."
# How often the cause of a failure is asked for again, and whether its cluster is still there.
MOST_WAITS, _WAITS_OF_CLUSTER = 3, 1
_REPAIRS = frozenset({"Replace", "Reboot"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of message.

    `when` it is sent is for the documentation. The subject may name `{group}`, `{instance}` and
    `{cause}`, and `look`, the command that shows more, `{cluster}`, `{region}` and `{instance}`.
    Without a next step, it is the cause's.
    """

    when: str
    subject: str
    next_step: str | None
    look: str = "hyperpod-cdk status --cluster {cluster} --region {region}"


NODES_FAIL, CLUSTER_FAILS, CHANGE_UNDONE = "nodes-fail", "cluster-fails", "change-undone"
NODE_FAULTY, STILL_FAULTY = "node-faulty", "node-still-faulty"
NODES_LOST, NODES_MISSING, PLAN_ENDS = "nodes-lost", "nodes-missing", "plan-ends"
NODE_GROUP_DEGRADED = "node-group-degraded"
KINDS: Mapping[str, Kind] = {
    NODES_FAIL: Kind(
        when="HyperPod sends an Error event about nodes, a group or the cluster",
        subject="{group} fails: {cause}",
        next_step=None,
        look="hyperpod-cdk events --cluster {cluster} --region {region}",
    ),
    CLUSTER_FAILS: Kind(
        when="the cluster is Failed",
        subject="the cluster failed: {cause}",
        next_step=None,
    ),
    CHANGE_UNDONE: Kind(
        when="HyperPod rolls back a change to the cluster",
        subject="a change is rolled back: {cause}",
        next_step=None,
    ),
    NODE_FAULTY: Kind(
        when="HyperPod finds a node faulty",
        subject="node {instance} is faulty",
        next_step="HyperPod repairs the node itself ({repair}). Jobs on it restart elsewhere, or "
        "when it is back.",
    ),
    STILL_FAULTY: Kind(
        when="a faulty node was neither replaced nor reported as healthy",
        subject="node {instance} stays faulty",
        next_step="Replace it with the command below, or ask AWS Support why HyperPod does not.",
        look="hyperpod-cdk replace {instance} --cluster {cluster} --region {region}",
    ),
    NODES_LOST: Kind(
        when="nodes are no longer ready, although no group is scaling",
        subject="nodes are no longer ready",
        next_step="Check which nodes are not ready. HyperPod replaces nodes that it finds faulty.",
    ),
    NODES_MISSING: Kind(
        when=(
            "a group has too few nodes for longer than patience_minutes, and no message about "
            "the cause was sent"
        ),
        subject="{group} lacks nodes",
        next_step="Find out why nodes are missing. For lack of capacity, wait, use another "
        "Availability Zone, or reserve capacity with a training plan.",
    ),
    PLAN_ENDS: Kind(
        when="the training plan of a group ends within a day",
        subject="the training plan of {group} ends soon",
        next_step="Save the data of jobs, and set another training plan or none: the nodes are "
        "terminated when the plan ends.",
    ),
    NODE_GROUP_DEGRADED: Kind(
        when="an EKS node group with desired_size above 0 is DEGRADED; once for each cause, "
        "then once a day",
        subject="EKS node {group} is degraded: {cause}",
        next_step=None,
    ),
}
"""By name, in the order of the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What someone is told of one fault, by its name: of each, one message is sent.

    The cause is a few words, empty if AWS's are not known; `look` is the command that shows more.
    """

    kind: str
    fault: str
    group: str | None
    cause: str
    subject: str
    happened: str
    next_step: str
    look: str


class Wait:
    """Nothing yet: in a moment, the cause may be known, or the cluster be gone."""


def decide(
    finding: Finding, described: Described, *, told: Mapping[str, Any]
) -> Message | Wait | None:
    """Return what to say of a finding.

    `told` are the faults that were told and are not over.
    """
    if described["ClusterStatus"] == ClusterStatus.DELETING:
        return None
    return _DECIDERS[finding.what](finding, described, told)


def of_node_group(group: Described, *, cluster: str) -> Sequence[Message] | None:
    """Return what to say of an EKS node group as DescribeNodegroup has it, while it is DEGRADED.

    None for one that is to have no nodes: EKS keeps the state and its issues until a launch
    succeeds, so it says nothing of now.
    https://github.com/aws/containers-roadmap/issues/2326
    """
    if group["status"] != "DEGRADED":
        return []
    if group["scalingConfig"]["desiredSize"] == 0:
        return None
    unknown = Issue(code="DEGRADED", message="EKS names no cause", resources="")
    return [
        _message(
            NODE_GROUP_DEGRADED,
            {"ClusterName": cluster, "ClusterArn": group["nodegroupArn"]},
            fault=f"{group['nodegroupArn']}/{issue.cause}",
            group=group["nodegroupName"],
            cause=issue.cause,
            happened=f"{issue.code}: {issue.words}.",
            next_step=issue.once_there,
        )
        for issue in causing(issues_of(group)) or [unknown]
    ]


def of_group(group: str | None) -> str:
    """Return what the names of a group's failures begin with; None: of the cluster's own."""
    return f"group/{group}/" if group else "cluster/"


def is_of_status(fault: str) -> bool:
    """Say whether a fault is one of the cluster's status, which another status ends."""
    return any(f"/{kind}/" in fault for kind in (CLUSTER_FAILS, CHANGE_UNDONE))


def fault_of_node(instance: str) -> str:
    """Return the name of the fault of a node."""
    return f"node/{instance}"


def _failure(
    finding: Finding, described: Described, told: Mapping[str, Any]
) -> Message | Wait | None:
    kind = _kind_of_status(finding, described)
    if kind is None and finding.what is What.STATUS:
        return None
    failure = ReportedFailure(
        text="" if SAYS_NOTHING in finding.text else finding.text,
        group=finding.group,
        instance=finding.instance,
    )
    if kind is not None:
        # A group that fails with the cluster does not know why; the cluster says which was first.
        own = own_message({"FailureMessage": failure.text, **described})
        failure = own or failure
    if kind is CLUSTER_FAILS and finding.waits < _WAITS_OF_CLUSTER:
        # CloudFormation may delete it at once, and tells of that itself.
        return Wait()
    if failure.cause is UNKNOWN and kind is None:
        if any(fault.startswith(of_group(failure.group)) for fault in told):
            return None
        if finding.waits < MOST_WAITS:
            return Wait()
    return _message(
        kind or NODES_FAIL,
        described,
        # Each cause in a group is told once, and once more when the cluster fails for it.
        fault=f"{of_group(failure.group)}{f'{kind}/' if kind else ''}{failure.cause.name}",
        group=failure.group,
        cause=failure.cause.name or "see what AWS says",
        happened=" ".join(
            part
            for part in (
                f"{finding.description.rstrip('.')}." if finding.description else "",
                f"{failure}." if failure.text else "AWS gives no cause.",
            )
            if part
        ),
        next_step=failure.next_step(described),
    )


def _kind_of_status(finding: Finding, described: Described) -> str | None:
    if described["ClusterStatus"] == ClusterStatus.FAILED:
        return CLUSTER_FAILS
    # A rollback may be over when it is looked at.
    if ClusterStatus.ROLLING_BACK in {finding.status, described["ClusterStatus"]}:
        return CHANGE_UNDONE
    return None


def _faulty(finding: Finding, described: Described, _told: Mapping[str, Any]) -> Message:
    assert finding.instance is not None  # noqa: S101 - every event of a node's health has it
    repairs = finding.repair in _REPAIRS
    # What no one repairs is as if it stayed so.
    kind = KINDS[NODE_FAULTY if repairs else STILL_FAULTY]
    return _message(
        NODE_FAULTY,
        described,
        fault=fault_of_node(finding.instance),
        group=finding.group,
        cause="hardware",
        instance=finding.instance,
        happened=finding.description,
        next_step=(kind.next_step or "").format(repair=finding.repair),
        look=kind.look,
    )


def _readiness(finding: Finding, described: Described, _told: Mapping[str, Any]) -> Message | None:
    groups = present_groups(described).values()
    if finding.changed_lately or any(not is_whole(group) for group in groups):
        return None
    return _message(
        NODES_LOST, described, fault="ready", cause="readiness", happened=finding.description
    )


def _of_group(kind: str, fault: str, cause: str) -> Callable[..., Message]:
    def message(finding: Finding, described: Described, _told: Mapping[str, Any]) -> Message:
        return _message(
            kind,
            described,
            fault=fault.format(finding=finding),
            group=finding.group,
            cause=cause,
            instance=finding.instance or "",
            happened=finding.description,
        )

    return message


def _message(
    name: str,
    described: Described,
    *,
    fault: str,
    cause: str,
    happened: str,
    group: str | None = None,
    instance: str = "",
    next_step: str | None = None,
    look: str | None = None,
) -> Message:
    kind = KINDS[name]
    region = described["ClusterArn"].split(":")[3]
    names = {
        "group": f"group {group}" if group else "the cluster",
        "instance": instance,
        "cause": cause,
        "cluster": described["ClusterName"],
        "region": region,
    }
    return Message(
        kind=name,
        fault=fault,
        group=group,
        cause=cause,
        subject=f"HyperPod {described['ClusterName']}: {kind.subject.format(**names)}",
        happened=happened,
        next_step=kind.next_step or "" if next_step is None else next_step,
        look=(look or kind.look).format(**names),
    )


def is_whole(group: Mapping[str, Any]) -> bool:
    """Say whether a group has as many nodes as are wanted by now."""
    return awaits_plan(group) or bool(group.get("CurrentCount", 0) >= group.get("TargetCount", 0))


_DECIDERS: Mapping[What, Callable[..., Message | Wait | None]] = {
    What.FAILURE: _failure,
    What.STATUS: _failure,
    What.FAULTY: _faulty,
    What.HEALTHY: lambda *_: None,
    What.READINESS: _readiness,
    What.MISSING: _of_group(NODES_MISSING, "group/{finding.group}/missing", "nodes missing"),
    What.STILL_FAULTY: _of_group(STILL_FAULTY, "still/{finding.instance}", "hardware"),
    What.PLAN: _of_group(PLAN_ENDS, "plan/{finding.plan}", "training plan"),
}

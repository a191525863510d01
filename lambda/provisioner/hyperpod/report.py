"""What a deployment that succeeds says of the nodes it did not get: a line for each group."""

from collections.abc import Iterator
from datetime import UTC, datetime

from hyperpod_shared.clusters import ClusterStatus, Described, groups_of, updated_groups
from hyperpod_shared.errors import shortened
from hyperpod_shared.failures import UNKNOWN, ReportedFailure, own_message
from provisioner.hyperpod.arrivals import Arrivals

NOTHING_SHORT = "none"
# The whole response to CloudFormation must fit into 4,096 bytes.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
_REPORT_BYTES = 2000
_CAUSE_BYTES = 250
_STEP_BYTES = 300
_LAST_LINE_BYTES = 60


def shortage_report(described: Described, arrivals: Arrivals, *, now: float, note: str = "") -> str:
    """Return what is short at the end of a deployment, or that nothing is.

    Args:
        described: DescribeCluster's answer.
        arrivals: How far the nodes have come.
        now: Seconds since the epoch.
        note: What is to be said besides.
    """
    groups = groups_of(described)
    facts = [note] if note else []
    if described["ClusterStatus"] != ClusterStatus.IN_SERVICE:
        facts.append(f"the cluster is {described['ClusterStatus']}")
        own = own_message(described)
        facts += [str(own)] if own else []
    facts += updated_groups(described)
    facts += [arrivals.unlisted] if arrivals.unlisted else []
    short = [name for name, group in groups.items() if arrivals.is_short(name, group)]
    if not (facts or short):
        return NOTHING_SHORT
    lines = [_head(described, now=now)]
    lines += [shortened(f"{fact}.", _CAUSE_BYTES) for fact in facts]
    return "\n".join(_that_fit([*lines, *(_line(name, described, arrivals) for name in short)]))


def _head(described: Described, *, now: float) -> str:
    time = datetime.fromtimestamp(now, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    command = f"aws sagemaker describe-cluster --cluster-name {described.get('ClusterName')}"
    return f"As of {time}, HyperPod keeps trying. For the current state: {command}"


def _line(name: str, described: Described, arrivals: Arrivals) -> str:
    group = groups_of(described)[name]
    counts = f"{name}: {arrivals.there(name, group)} of {group.get('TargetCount', 0)} nodes"
    failures = arrivals.failures_of(name) or arrivals.failures_of(None)
    checked = len(arrivals.checked(name))
    if failures:
        failure = _most_telling(failures)
        cause = shortened(str(failure.within_group()).rstrip(". "), _CAUSE_BYTES)
        step = shortened(failure.next_step(described), _STEP_BYTES)
    elif checked:
        cause = f"{checked} in deep health checks, which can take hours"
        step = "They join by themselves when they pass."
    else:
        cause = "HyperPod has reported no error"
        step = "Wait, then run the command above."
    return f"{counts}: {cause}. {step}"


def _most_telling(failures: list[ReportedFailure]) -> ReportedFailure:
    return next((one for one in failures if one.cause is not UNKNOWN), failures[0])


def _that_fit(lines: list[str]) -> Iterator[str]:
    room = _REPORT_BYTES - _LAST_LINE_BYTES
    for number, line in enumerate(lines):
        room -= len(line.encode()) + len("\\n")
        if room < 0:
            yield f"{len(lines) - number} more groups are short of nodes."
            return
        yield line

"""Whether a HyperPod cluster is as far as the deployment waits for, and what if it is not.

| wait_for   | done when                                                                      |
|------------|--------------------------------------------------------------------------------|
| accepted   | HyperPod took on the creation, or all calls of an update                       |
| in_service | the cluster is InService; in Continuous mode nodes come afterwards             |
| nodes      | besides, no group has fewer nodes than it needs, and no AMI update is under way |

A cluster that fails is a failure at once. One that is late is a failure with `on_shortage: fail`,
and else a success that says what is missing. In a rollback it never is: a rollback that fails
leaves a stack that nothing but an administrator can mend.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from provisioner.framework import log
from provisioner.framework.request import NOT_YET, Progress
from provisioner.hyperpod.described import is_applied
from provisioner.hyperpod.events import CONTINUOUS
from provisioner.hyperpod.failure import explained, failure
from provisioner.hyperpod.findings import Finding, shortages
from provisioner.hyperpod.groups import groups_of
from provisioner.hyperpod.properties import ACCEPTED, CONTINUE, NODES
from provisioner.hyperpod.task import ClusterTask
from provisioner.hyperpod.update import planned

Described = Mapping[str, Any]
NOTHING_SHORT = "none"
_IN_SERVICE = "InService"
_ROLLING_BACK = "RollingBack"
_TURNED_BACK = frozenset({"Failed", "Deleting", _ROLLING_BACK})
_SOFTWARE_FAILED = frozenset({"Failed", "RollbackInProgress", "RollbackComplete"})
_SOFTWARE_BUSY = frozenset({"Pending", "InProgress"})
_LONGEST_SHORTAGE = 800


def progress_of(task: ClusterTask, described: Described) -> Progress:
    """Say whether a cluster whose calls are all made is done.

    Raises:
        ProvisioningError: It failed, or is late and that is not to be put up with.
    """
    status = described["ClusterStatus"]
    # A rollback finds the service taking back the update that failed: that is waited for.
    if status in _TURNED_BACK and not (status == _ROLLING_BACK and task.rolls_back):
        raise failure(described, _findings(task, described))
    if task.wanted.wait_for == ACCEPTED:
        return _done(described)
    if status == _IN_SERVICE:
        _check_kept(task, described)
    if not any(_missing(task, described)):
        return _done(described)
    if not task.is_out_of_time:
        return NOT_YET
    return _late(task, described)


def gone(name: str) -> Progress:
    """Return the answer for a cluster that a rollback finds gone: nothing to take back."""
    log.warning("gone; the rollback leaves it so", cluster=name)
    return _answer(name, arn="none", status="Deleted")


def _missing(task: ClusterTask, described: Described) -> Iterator[str]:
    status = described["ClusterStatus"]
    if status != _IN_SERVICE:
        yield f"the cluster is {status}"
    elif task.wanted.wait_for == NODES:
        yield from shortages(described)
        for name, group in groups_of(described).items():
            if group.get("SoftwareUpdateStatus") in _SOFTWARE_BUSY:
                yield f"group {name} is getting its AMI"


def as_it_is(task: ClusterTask, described: Described) -> Progress:
    """Return the answer that puts up with the cluster, and says what is missing."""
    missing = list(_missing(task, described))
    if not missing:
        return _done(described)
    causes = map(str, explained(described, _findings(task, described)))
    shortage = "; ".join([*missing, *causes])[:_LONGEST_SHORTAGE]
    log.warning("late", cluster=task.api.name, missing=shortage)
    return _done(described, shortage=shortage)


def _late(task: ClusterTask, described: Described) -> Progress:
    if task.wanted.on_shortage == CONTINUE or task.rolls_back:
        return as_it_is(task, described)
    findings = _findings(task, described)
    what = f"was not ready after {task.wanted.wait_minutes} minutes"
    if described["ClusterStatus"] != _IN_SERVICE:
        what += f" (it is {described['ClusterStatus']})"
    raise failure(described, findings, what=what)


def _check_kept(task: ClusterTask, described: Described) -> None:
    """Raise if HyperPod took an update back between two polls.

    Only an all-or-nothing cluster does as a whole; in Continuous mode autoscaling may change
    counts.
    """
    if task.creates or task.rolls_back:
        return
    changes = planned(task)
    asked = {name for call in changes.software for name in call.names}
    took_back = [
        f"took back the AMI update of group {name} ({group['SoftwareUpdateStatus']})"
        for name, group in groups_of(described).items()
        if name in asked and group.get("SoftwareUpdateStatus") in _SOFTWARE_FAILED
    ]
    if described.get("NodeProvisioningMode") != CONTINUOUS and not is_applied(changes, described):
        took_back.append("took its update back")
    if took_back:
        raise failure(described, _findings(task, described), what=took_back[0])


def _findings(task: ClusterTask, described: Described) -> tuple[Finding, ...]:
    return task.events.findings(described, since=task.request.started_at)


def _done(described: Described, *, shortage: str = NOTHING_SHORT) -> Progress:
    return _answer(
        described["ClusterName"],
        arn=described["ClusterArn"],
        status=described["ClusterStatus"],
        shortage=shortage,
    )


def _answer(name: str, *, arn: str, status: str, shortage: str = NOTHING_SHORT) -> Progress:
    data = {
        "ClusterName": name,
        "ClusterArn": arn,
        "ClusterStatus": status,
        "Shortage": shortage,
    }
    return Progress(complete=True, data=data)

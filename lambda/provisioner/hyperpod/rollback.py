"""The Update that takes back one that failed: it changes only what had come true, and never fails.

CloudFormation sends it as an Update with the two sets of properties swapped, whether the failed
one made all of its calls or none. A rollback that fails leaves a stack that nothing but an
administrator can mend.

| found                                       | then                                             |
|---------------------------------------------|--------------------------------------------------|
| the request takes back a new name           | the former cluster is answered as it is          |
| gone                                        | left so                                          |
| being deleted                               | waited for, then left so                         |
| Failed, and its creation did                | left for a look at it; the next update replaces  |
|                                             | it                                               |
| Failed otherwise                            | UpdateCluster is tried, then answered as it is   |
| InService or busy                           | the update back: see ``hyperpod_update``         |
"""

from collections.abc import Mapping
from typing import Any

from provisioner.framework import log
from provisioner.framework.request import NOT_YET, Accepted, Progress
from provisioner.hyperpod.marks import CREATE_FAILED_TAG
from provisioner.hyperpod.progress import as_it_is, gone, progress_of
from provisioner.hyperpod.task import ClusterTask
from provisioner.hyperpod.update import go_on, make_step, planned

_DELETING = "Deleting"
_FAILED = "Failed"


def start_rollback(task: ClusterTask) -> Accepted:
    """Make the first call of the way back, if there is one to make."""
    name = task.api.name
    changes = planned(task)
    described = None if task.creates or changes.is_empty else task.api.describe()
    if described is None or described["ClusterStatus"] == _DELETING:
        return Accepted(physical_id=name)
    if described["ClusterStatus"] == _FAILED and CREATE_FAILED_TAG in task.api.tags(
        described["ClusterArn"]
    ):
        log.info("left for a look at it", cluster=name)
        return Accepted(physical_id=name)
    return Accepted(physical_id=name, steps_done=int(make_step(task, described, changes, 0)))


def progress_of_rollback(task: ClusterTask, described: Mapping[str, Any] | None) -> Progress:
    """Go on, and say whether the cluster is back, or as far back as it can be."""
    if described is None:
        return gone(task.api.name)
    if task.creates or described["ClusterStatus"] == _FAILED or task.is_at_its_end:
        return as_it_is(task, described)
    if described["ClusterStatus"] == _DELETING or not go_on(task, described):
        return NOT_YET
    return progress_of(task, described)

"""Whether a deployment whose calls are made is done: pure, from what is found and waited for.

| wait_for   | done when                                                                       |
|------------|---------------------------------------------------------------------------------|
| accepted   | HyperPod took on the creation, or all calls of an update                        |
| in_service | the cluster is InService; in Continuous mode nodes come afterwards              |
| nodes      | besides, no group is short of nodes and no AMI update is under way; or, if a    |
|            | shortage is no failure, as soon as waiting tells no more (`Arrivals`)           |

A group whose nodes all fail in their lifecycle script is a failure when nodes are waited for:
HyperPod would try for ever. A rollback waits for the cluster alone, and is not failed for nodes.
"""

from hyperpod_shared.clusters import (
    CONTINUOUS,
    ClusterStatus,
    SoftwareUpdateStatus,
    groups_of,
    shortages,
    updated_groups,
)
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import Changes, counts_differ
from provisioner.hyperpod.claim import Claim
from provisioner.hyperpod.cluster_request import (
    ACCEPTED,
    CONTINUE,
    NODES,
    ClusterRequest,
)
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.steps import AskNodes, Done, Fail, Step, Wait

_TURNED_BACK = frozenset({ClusterStatus.FAILED, ClusterStatus.DELETING, ClusterStatus.ROLLING_BACK})
_SOFTWARE_FAILED = frozenset(
    {
        SoftwareUpdateStatus.FAILED,
        SoftwareUpdateStatus.ROLLBACK_IN_PROGRESS,
        SoftwareUpdateStatus.ROLLBACK_COMPLETE,
    }
)


def progress(  # noqa: PLR0911 - each return is a case of the table
    found: Found,
    request: ClusterRequest,
    claim: Claim,
    todo: Changes,
) -> Step:
    """Return the step of a request that has nothing left to change."""
    on = not claim.rolls_back
    of_creation = claim.made_the_cluster or (request.makes_a_cluster and not found.worked)
    works = found.status == ClusterStatus.IN_SERVICE
    if on and found.status in _TURNED_BACK and (request.makes_a_cluster or claim.last_call):
        return Fail(of_creation=of_creation)
    if request.wanted.wait_for == ACCEPTED:
        return Done(worked=on and works)
    taken_back = _taken_back(found, todo) if on and works and claim.last_call else None
    fresh = claim.is_fresh(found.now)
    if taken_back:
        return Wait(why=taken_back) if fresh else Fail(what=taken_back)
    if on and works and todo.update and claim.last_call and fresh:
        return Wait(why="its update is not visible yet")
    if works and not (on and request.wanted.wait_for == NODES):
        return Done(worked=on)
    if works and found.arrivals is None:
        return AskNodes()
    lacking = _lacking(found)
    if not lacking:
        return Done(worked=on)
    late = request.is_late(found.now)
    arrivals = found.arrivals or Arrivals()
    patient = not (works and request.wanted.on_shortage == CONTINUE)
    # A change that concerns no node does not wait for those that were missing before.
    concerns_nodes = patient or request.makes_a_cluster or bool(claim.last_call)
    broken = arrivals.without_script(found.described, late=late) if works and concerns_nodes else []
    if broken:
        what = f"has no node in group {broken[0]}, whose lifecycle script fails on every node"
        return Fail(what=what, of_creation=of_creation, group=broken[0])
    settled = not patient and arrivals.are_settled(found.described, now=found.now)
    if concerns_nodes and not (late or settled):
        return Wait(why="; ".join(lacking))
    if request.wanted.on_shortage == CONTINUE or not on:
        return Done(worked=on and works)
    what = f"was not ready after {request.wanted.wait_minutes} minutes"
    what += "" if works else f" (it is {found.status})"
    return Fail(what=what, of_creation=of_creation)


def _lacking(found: Found) -> list[str]:
    """Return what the cluster lacks of what is waited for, as short texts."""
    if found.status != ClusterStatus.IN_SERVICE:
        return [f"the cluster is {found.status}"]
    there = found.arrivals.there if found.arrivals else None
    return [*shortages(found.described, there=there), *updated_groups(found.described)]


def _taken_back(found: Found, todo: Changes) -> str | None:
    """Say what HyperPod took back of this request's calls between two polls, if anything."""
    groups = groups_of(found.described)
    asked = (name for _, update in todo.software for name, _ in update.groups)
    for name in asked:
        status = groups[name].get("SoftwareUpdateStatus")
        if status in _SOFTWARE_FAILED:
            return f"took back the AMI update of group {name} ({status})"
    # Only an all-or-nothing cluster does as a whole; else autoscaling may change the counts.
    classic = found.described.get("NodeProvisioningMode") != CONTINUOUS
    if classic and counts_differ(todo.update, found.described):
        return "took its update back"
    return None

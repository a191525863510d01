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

from collections.abc import Mapping
from dataclasses import replace

from hyperpod_shared.cluster_changes import (
    MANAGED,
    ORCHESTRATOR,
    STRATEGY,
    keeps_database,
    orchestrator_settings,
    requested_value,
    scales,
)
from hyperpod_shared.clusters import (
    CONTINUOUS,
    COUNT,
    GROUP_LISTS,
    NAME,
    SLURM,
    SOFTWARE_FAILED,
    ClusterInput,
    ClusterStatus,
    Described,
    Group,
    SoftwareUpdateStatus,
    groups_of,
    is_updated,
    leads,
    present_groups,
    updated_groups,
)
from hyperpod_shared.failures import ACCOUNTING, EDITED, own_message
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import (
    TO_DELETE,
    Changes,
    asked_images,
    is_unseen,
    made_groups,
)
from provisioner.hyperpod.claim import UPDATE_KEY, Claim, FoundGroups, LeftGroups
from provisioner.hyperpod.cluster_request import (
    CONTINUE,
    FAIL,
    NODES,
    Aim,
    ClusterRequest,
)
from provisioner.hyperpod.comparison import covers
from provisioner.hyperpod.found import AskNodes, Done, Fail, Found, Step, Wait

NOT_SHOWN = Wait(why="its call is not visible yet")
_TURNED_BACK = frozenset({ClusterStatus.FAILED, ClusterStatus.DELETING, ClusterStatus.ROLLING_BACK})


def setback(
    found: Found, request: ClusterRequest, claim: Claim, todo: Changes
) -> Wait | Fail | None:
    """Return the step of a request whose last call failed, or does not show yet; else None."""
    on, status = not claim.rolls_back, found.status
    if on and status in _TURNED_BACK and (request.makes_a_cluster or claim.last_call):
        return Fail(of_creation=_is_creation(found, request, claim))
    fresh = claim.is_fresh(found.now)
    if not claim.last_call or status != ClusterStatus.IN_SERVICE:
        return NOT_SHOWN if fresh and not claim.answered else None
    taken_back = _taken_back(found, claim, todo) if on else None
    if taken_back and not fresh:
        return Fail(what=taken_back)
    unseen = taken_back or not claim.answered or is_unseen(todo, claim, found.described)
    if fresh and unseen:
        return NOT_SHOWN if taken_back is None else Wait(why=taken_back)
    return None


def progress(  # noqa: PLR0911 - each return is a case of the table
    found: Found, request: ClusterRequest, claim: Claim, todo: Changes
) -> Step:
    """Return the step of a request that has nothing left to change, or no time to."""
    on = not claim.rolls_back
    of_creation = _is_creation(found, request, claim)
    works = found.status == ClusterStatus.IN_SERVICE
    late, arrivals = request.is_late(found.now), found.arrivals or Arrivals()
    # HyperPod looks at another accounting database for a while, and may go back to the former one.
    called = works and on and bool(claim.last_call)
    is_told = called and ORCHESTRATOR in differences(todo, found.described)
    if works and not (is_told or (on and request.wanted.wait_for == NODES)):
        return end(found, request, claim, todo)
    if works and found.arrivals is None:
        return AskNodes()
    if is_told and any(one.cause is ACCOUNTING for one in arrivals.failures_of(None)):
        return Fail(what="does not use the accounting database that is asked for")
    if is_told and not late:
        return Wait(why="the orchestrator is not as asked yet")
    described = _of_template(found.described, request)
    lacking = _lacking(replace(found, described=described))
    if not lacking:
        return end(found, request, claim, todo)
    patient = not (works and request.wanted.on_shortage == CONTINUE)
    # A change that concerns no node does not wait for those that were missing before.
    concerns_nodes = patient or request.makes_a_cluster or bool(claim.last_call)
    broken = arrivals.without_script(described, late=late) if works and concerns_nodes else []
    if broken:
        what = f"has no node in group {broken[0]}, whose lifecycle script fails on every node"
        return Fail(what=what, of_creation=of_creation, group=broken[0])
    settled = not patient and arrivals.are_settled(described, now=found.now)
    if concerns_nodes and not (late or settled):
        return Wait(why="; ".join(lacking))
    if request.wanted.on_shortage == CONTINUE or not on:
        return end(found, request, claim, todo)
    what = f"was not ready after {request.wanted.wait_minutes} minutes"
    what += "" if works else f" (it is {found.status})"
    return Fail(what=what, of_creation=of_creation)


def accepted(found: Found, request: ClusterRequest, claim: Claim, todo: Changes) -> Done:
    """Return the answer of a request whose calls HyperPod has taken, whatever becomes of them."""
    if claim.last_call and claim.is_fresh(found.now):
        note = "HyperPod has accepted the change, and may not show it yet"
    else:
        aim = request.aim()
        others = {**template_differences(aim.wanted, found.described), **remounted(aim)}
        note = _said(others, image_differences(todo, claim, found.described))
    return Done(
        note=note,
        worked=found.status == ClusterStatus.IN_SERVICE and not claim.rolls_back,
        left=left_behind(found, request, todo, claim=claim),
    )


def end(found: Found, request: ClusterRequest, claim: Claim, todo: Changes) -> Done | Fail:
    """Return the answer of a request whose cluster is not looked at any more."""
    on = not claim.rolls_back
    differing = differences(todo, found.described)
    if differing and scales(found.described):  # the numbers are Karpenter's
        differing = differences(replace(todo, update={}), found.described)
    images = image_differences(todo, claim, found.described)
    surely = {name: what for name, what in images.items() if what != MAY_BE_OLD}
    if (differing or surely) and on and request.wanted.on_shortage == FAIL:
        return Fail(what=f"is not as asked: {_said(differing, surely)}")
    if claim.rolls_back:
        differing |= dict.fromkeys(_still_left(found, claim), "is as an earlier request left it")
        kept = request.changed_groups().keys() & present_groups(found.described)
        kept -= groups_of(request.wanted.cluster_input).keys() | differing.keys()
        differing |= dict.fromkeys(kept, "is there, as it is not what the failed request made")
    aim = request.aim()
    others = {**template_differences(aim.wanted, found.described), **remounted(aim)}
    works = found.status == ClusterStatus.IN_SERVICE
    left = left_behind(found, request, todo, claim=claim)
    return Done(note=_said(others, differing, images), worked=on and works, left=left)


def _said(*found: Mapping[str, str]) -> str:
    """Return differences as one text; of one thing, the last is the closest."""
    told = {name: what for each in found for name, what in each.items()}
    return "; ".join(f"{name} {what}" for name, what in sorted(told.items()))


def left_behind(
    found: Found, request: ClusterRequest, todo: Changes, *, claim: Claim
) -> LeftGroups:
    """Return the groups that the next update has to look after: they are, or may end up, other."""
    present, there = present_groups(found.described), FoundGroups.of(found.tags)
    left = LeftGroups.of(found.tags)
    wanted, before = groups_of(request.wanted.cluster_input), request.changed_groups()
    images = {*image_differences(todo, claim, found.described)}
    works = found.status == ClusterStatus.IN_SERVICE
    if not works or claim.is_fresh(found.now):
        images |= {*made_groups(todo, claim)}
    mine = {*made_groups(todo, claim), *asked_images(request.aim())}
    images |= {
        name
        for name, group in present.items()
        if is_updated(group) and (name in mine or left.has_image(name, group))
    }
    # A Continuous cluster takes no call back: what is other now, someone changed.
    continuous = found.described.get("NodeProvisioningMode") == CONTINUOUS
    taken = continuous and claim.last_call and claim.answered and not claim.is_fresh(found.now)

    def is_as_before(name: str) -> bool:  # another number is an operator's
        had = {before.get(name), there.count_of(name)}
        return present[name].get("TargetCount") in had or left.has(name, present[name])

    # A rollback of an update that called for nothing leaves what earlier ones have left, no more.
    counts = {
        name: present[name].get("TargetCount")
        for name in present.keys() & differences(todo, found.described)
        if name not in wanted or (not taken and is_as_before(name))
    }
    counts |= {name: before[name] for name in before if _falls_back(present.get(name, {}))}
    if not works and (claim.last_call or (claim.rolls_back and claim.undoes)):
        counts = {**before, **counts}  # HyperPod may take it back
        images |= before.keys()
    if claim.rolls_back:  # what earlier requests left, the next update sees to
        counts |= {name: present[name].get("TargetCount") for name in _still_left(found, claim)}
        images |= {name for name, group in present.items() if left.has_image(name, group)}
    counts = {
        name: count if name in wanted else None
        for name, count in counts.items()
        # One that is new would be gone, not smaller; one that was found stays.
        if (count is not None if name in wanted else name not in there)
    }
    images_now = {name: present[name] for name in images & present.keys()}
    found_now = LeftGroups.with_counts(counts, images=images_now, by=claim.request)
    return left if replace(found_now, by=left.by) == left else found_now


def _falls_back(details: Group) -> bool:
    """Say whether HyperPod takes a group back that does not get its least number in 3 hours.

    botocore, UpdateCluster: MinInstanceCount.
    """
    return int(details.get("CurrentCount", 0)) < int(details.get("MinCount") or 0)


def _still_left(found: Found, claim: Claim) -> set[str]:
    """Return the groups that requests before the one that is taken back have left."""
    left = LeftGroups.of(found.tags).unless_by([claim.former])
    present = present_groups(found.described)
    return {name for name, group in present.items() if left.has(name, group)}


def _is_creation(found: Found, request: ClusterRequest, claim: Claim) -> bool:
    return claim.made_the_cluster or (request.makes_a_cluster and not found.worked)


def _of_template(described: Described, request: ClusterRequest) -> Described:
    """Return a cluster with the template's groups alone: no one waits for an operator's."""
    wanted = groups_of(request.wanted.cluster_input)
    lists = {
        key: [group for group in described[key] if group[NAME] in wanted]
        for key in GROUP_LISTS
        if described.get(key)
    }
    return {**described, **lists}


def _lacking(found: Found) -> list[str]:
    """Return what the cluster lacks of what is waited for, as short texts."""
    if found.status != ClusterStatus.IN_SERVICE:
        return [f"the cluster is {found.status}"]
    arrivals = found.arrivals or Arrivals()
    return [*arrivals.shortages(found.described), *updated_groups(found.described)]


def _taken_back(found: Found, claim: Claim, todo: Changes) -> str | None:
    """Say what HyperPod took back of this request's calls between two polls, if anything."""
    groups = groups_of(found.described)
    for name in made_groups(todo, claim):
        status = groups[name].get("SoftwareUpdateStatus")
        if status in SOFTWARE_FAILED:
            return f"took back the AMI update of group {name} ({status})"
    # Only an all-or-nothing cluster does as a whole; else autoscaling may change the counts.
    classic = found.described.get("NodeProvisioningMode") != CONTINUOUS
    is_taken = claim.answered or claim.last_call != UPDATE_KEY
    if classic and is_taken and differences(todo, found.described):
        return "took its update back"
    if classic and claim.answered and claim.last_call == UPDATE_KEY and _was_edited(found):
        return "took its update back"
    return None


def _was_edited(found: Found) -> bool:
    """Say whether edits of slurm.conf stop updates; another strategy passes over them."""
    own = own_message(found.described)
    is_managed = orchestrator_settings(found.described).get(STRATEGY, MANAGED) == MANAGED
    return own is not None and own.cause is EDITED and is_managed


MAY_BE_OLD = "may have its old AMI"
"""What is said of a group that gets the latest AMI, if a call's answer was lost."""
_SHOWN_IMAGES = {
    "ImageId": "CurrentImageId",
    "ImageReleaseVersion": "CurrentImageReleaseVersion",
}


def differences(todo: Changes, described: Described) -> dict[str, str]:
    """Return what the cluster surely lacks of what the changes lead to, by what it is about.

    How HyperPod describes a group's other fields once it has taken them, AWS does not say.
    """
    present, update = present_groups(described), todo.update
    found = dict.fromkeys(update.get(TO_DELETE, ()), "is not removed")
    for name, group in groups_of(update).items():
        there = present.get(name, {}).get("TargetCount", group[COUNT])
        if name not in present:
            found[name] = "is not there"
        elif there != group[COUNT]:
            found[name] = f"is asked to have {group[COUNT]} nodes, not {there}"
        elif not covers(present[name].get(SLURM, group.get(SLURM)), group.get(SLURM)):
            found[name] = "is not in its partition"
    for key in update.keys() - {TO_DELETE, *GROUP_LISTS}:
        if not covers(requested_value(described.get(key)), update[key]):
            found[key] = "is not as asked"
    return found


def template_differences(wanted: ClusterInput, described: Described) -> dict[str, str]:
    """Return what the cluster has otherwise than the template, asked to change or not.

    Operators and autoscaling change numbers of nodes, which stay until the template changes them.
    """
    present, found = present_groups(described), {}
    for name, group in groups_of(wanted).items():
        there = present.get(name)
        if there is None:
            found[name] = "is not there"
        elif not scales(described) and there.get("TargetCount", group[COUNT]) != group[COUNT]:
            found[name] = f"has {there['TargetCount']} nodes by now, not {group[COUNT]}"
        elif any(
            key in group and shown in there and there[shown] != group[key]
            for key, shown in _SHOWN_IMAGES.items()
        ):
            found[name] = "has another AMI"
    if keeps_database(wanted, described):
        found[ORCHESTRATOR] = "keeps its accounting database"
    return found


def remounted(aim: Aim) -> dict[str, str]:
    """Return the groups whose nodes keep file systems that the template does not mount any more.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    """
    former, wanted = groups_of(aim.former or {}), groups_of(aim.wanted)
    told = "mounts other file systems on new nodes only"
    others = f"{told}: scale it to 0 and back to reach all"
    controller = f"{told}, and it has one that stays: mount them there by hand"
    return {
        name: controller if leads(wanted[name]) else others
        for name in former.keys() & wanted.keys()
        if not aim.rolls_back and _mounts(former[name]) != _mounts(wanted[name])
    }


def _mounts(group: Group) -> list[object]:
    return [
        storage
        for storage in group.get("InstanceStorageConfigs") or ()
        if any(kind.startswith("Fsx") for kind in storage)
    ]


def image_differences(todo: Changes, claim: Claim, described: Described) -> dict[str, str]:
    """Return the groups that do not have the AMI that is asked for, or may not, as short texts."""
    groups, found = groups_of(described), {}
    made, given = made_groups(todo, claim), SoftwareUpdateStatus.SUCCEEDED
    for key, call in todo.software:
        for name, _ in call.groups:
            status = groups[name].get("SoftwareUpdateStatus")
            if name in made and status in SOFTWARE_FAILED:
                found[name] = f"is not given its AMI ({status})"
            elif name in made and status == given and key not in claim.unsure_calls:
                continue
            elif call.is_pinned:
                found[name] = "does not have the AMI that is asked for"
            elif key in claim.unknown_calls:
                found[name] = MAY_BE_OLD
    return found

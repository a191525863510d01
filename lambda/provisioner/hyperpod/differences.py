"""What a cluster has otherwise than a request leads to: the same list wherever it is told.

An answer tells it, a failure names it, and HyperPod has taken an update back if there is any after
the update.
"""

from collections.abc import Mapping

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
    COUNT,
    GROUP_LISTS,
    SLURM,
    SOFTWARE_FAILED,
    ClusterInput,
    Described,
    Group,
    Groups,
    SoftwareUpdateStatus,
    groups_of,
    leads,
    present_groups,
)
from hyperpod_shared.failures import EDITED, own_message
from provisioner.hyperpod.changes import TO_DELETE, Aim, Changes
from provisioner.hyperpod.comparison import IMAGE_KEYS, covers
from provisioner.hyperpod.notes import Notes, image_of


def said(*differences: Mapping[str, str]) -> str:
    """Return differences as one text; of one thing, the last is the closest."""
    closest = {name: what for some in differences for name, what in some.items()}
    return "; ".join(f"{name} {what}" for name, what in sorted(closest.items()))


def was_edited(described: Described) -> bool:
    """Say whether edits of slurm.conf stop updates; another strategy passes over them."""
    own = own_message(described)
    is_managed = orchestrator_settings(described).get(STRATEGY, MANAGED) == MANAGED
    return own is not None and own.cause is EDITED and is_managed


MAY_BE_OLD = "may have its old AMI"
"""What is said of a group that gets the latest AMI, if a call's answer was lost."""


def differences(todo: Changes, described: Described) -> dict[str, str]:
    """Return what the cluster surely lacks of what the changes lead to, by what it is about.

    How HyperPod describes a group's other fields once it has taken them, AWS does not say.
    """
    present, update = present_groups(described), todo.update
    differing = dict.fromkeys(update.get(TO_DELETE, ()), "is not removed")
    for name, group in groups_of(update).items():
        there = present.get(name, {}).get("TargetCount", group[COUNT])
        if name not in present:
            differing[name] = "is not there"
        elif there != group[COUNT]:
            differing[name] = f"is asked to have {group[COUNT]} nodes, not {there}"
        elif not covers(present[name].get(SLURM, group.get(SLURM)), group.get(SLURM)):
            differing[name] = "is not in its partition"
    for key in update.keys() - {TO_DELETE, *GROUP_LISTS}:
        if not covers(requested_value(described.get(key)), update[key]):
            differing[key] = "is not as asked"
    return differing


def template_differences(wanted: ClusterInput, described: Described) -> dict[str, str]:
    """Return what the cluster has otherwise than the template, asked to change or not.

    Operators and autoscaling change numbers of nodes, which stay until the template changes them.
    """
    present, differing = present_groups(described), {}
    for name, group in groups_of(wanted).items():
        there = present.get(name)
        if there is None:
            differing[name] = "is not there"
        elif not scales(described) and there.get("TargetCount", group[COUNT]) != group[COUNT]:
            differing[name] = f"has {there['TargetCount']} nodes by now, not {group[COUNT]}"
        elif any(
            key in group and there.get(f"Current{key}", group[key]) != group[key]
            for key in IMAGE_KEYS
        ):
            differing[name] = "has another AMI"
    if keeps_database(wanted, described):
        differing[ORCHESTRATOR] = "keeps its accounting database"
    return differing


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


def made_groups(todo: Changes, notes: Notes, groups: Groups) -> list[str]:
    """Return the groups of the updates of AMIs that SageMaker has taken, as far as is known."""
    return [
        name
        for key, update in todo.software
        if (made := notes.call(key))
        for name, _ in update.groups
        if made.answered or image_of(groups[name]) != list(made.images.get(name, ()))
    ]


def image_differences(todo: Changes, notes: Notes, described: Described) -> dict[str, str]:
    """Return the groups that do not have the AMI that is asked for, or may not, as short texts."""
    groups, differing = groups_of(described), {}
    for key, call in todo.software:
        made = notes.call(key)
        for name, _ in call.groups:
            status = groups[name].get("SoftwareUpdateStatus")
            if made and status in SOFTWARE_FAILED:
                differing[name] = f"is not given its AMI ({status})"
            elif made and status == SoftwareUpdateStatus.SUCCEEDED and not made.unsure:
                continue
            elif call.is_pinned:
                differing[name] = "does not have the AMI that is asked for"
            elif made is None or not made.answered:
                differing[name] = MAY_BE_OLD
    return differing

"""What a cluster has otherwise than it is asked to, as short texts for the answer."""

from hyperpod_shared.cluster_changes import (
    ORCHESTRATOR,
    keeps_database,
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
    SoftwareUpdateStatus,
    groups_of,
    leads,
    present_groups,
)
from provisioner.hyperpod.changes import TO_DELETE, Changes, made_groups
from provisioner.hyperpod.claim import Claim
from provisioner.hyperpod.cluster_request import Aim
from provisioner.hyperpod.comparison import covers

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

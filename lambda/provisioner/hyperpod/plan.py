"""What an update of a HyperPod cluster takes: pure, from the old and the new CreateCluster input.

UpdateCluster changes and adds the groups it is given and deletes only the groups it is told to;
tags and AMIs have calls of their own; some things never change after creation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from provisioner.hyperpod.group_plan import Refusal, group_changes
from provisioner.hyperpod.groups import GROUP_LISTS, ClusterRequest, means_the_same
from provisioner.hyperpod.software_plan import SoftwareUpdate, software_updates

_TAGS = "Tags"
_APART = frozenset({_TAGS, "ClusterName", *GROUP_LISTS})
_UPDATABLE = frozenset(
    {
        "AutoScaling",
        "ClusterRole",
        "NodeRecovery",
        "RestrictedInstanceGroupsConfig",
        "TieredStorageConfig",
    }
)
_WHEN_LEFT_OUT: Mapping[str, object] = {
    "AutoScaling": {"Mode": "Disable"},
    "TieredStorageConfig": {"Mode": "Disable"},
}
# The role does nothing while autoscaling is off, and no call takes it away.
_MAY_STAY = frozenset({"ClusterRole"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The calls that lead from the old request to the new one.

    Args:
        update: UpdateCluster's input without the cluster's name; empty for no call.
        tags_to_add: Tags to write or overwrite.
        tags_to_remove: Keys of tags to delete.
        software: UpdateClusterSoftware's calls, one after the other.
        kept_counts: Groups in `update` whose number of nodes was not asked to change; what the
            cluster has by then is sent, so that autoscaling is not undone.
        refusals: Changes that cannot be made; any of them refuses the whole plan.
    """

    update: Mapping[str, Any] = field(default_factory=dict)
    tags_to_add: Mapping[str, str] = field(default_factory=dict)
    tags_to_remove: tuple[str, ...] = ()
    software: tuple[SoftwareUpdate, ...] = ()
    kept_counts: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()

    @property
    def changes_cluster(self) -> bool:
        """Whether there is anything to call or to refuse before the AMIs."""
        return bool(self.update or self.tags_to_add or self.tags_to_remove or self.refusals)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to call and nothing to refuse."""
        return not (self.changes_cluster or self.software)


def plan(old: ClusterRequest, new: ClusterRequest, *, software_update: bool = False) -> Plan:
    """Return what leads from the old request to the new one, for a cluster of the same name.

    Args:
        old: The CreateCluster input that the cluster was last given.
        new: The one that is wanted now.
        software_update: Whether every group without an AMI of its own gets HyperPod's latest.
    """
    update, refusals = _cluster_changes(old, new)
    groups = group_changes(old, new)
    old_tags, new_tags = tags_of(old), tags_of(new)
    return Plan(
        update={**update, **groups.update},
        tags_to_add={key: value for key, value in new_tags.items() if old_tags.get(key) != value},
        tags_to_remove=tuple(sorted(old_tags.keys() - new_tags.keys())),
        software=software_updates(old, new, everything=software_update),
        kept_counts=groups.kept_counts,
        refusals=(*refusals, *groups.refusals),
    )


def tags_of(request: ClusterRequest) -> dict[str, str]:
    """Return the request's tags as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in request.get(_TAGS) or ()}


def _cluster_changes(
    old: ClusterRequest, new: ClusterRequest
) -> tuple[dict[str, Any], list[Refusal]]:
    update: dict[str, Any] = {}
    refusals: list[Refusal] = []
    for key in sorted((old.keys() | new.keys()) - _APART):
        if means_the_same(old.get(key), new.get(key)):
            continue
        value = new.get(key, _WHEN_LEFT_OUT.get(key))
        if value is None and key in _MAY_STAY:
            continue
        if key == "ClusterRole" and (old.get("AutoScaling") or {}).get("Mode") == "Enable":
            instead = "Leave autoscaling out, deploy, then set the role and autoscaling again."
            refusals.append(Refusal(what=key, group=None, wanted=value, instead=instead))
        elif key in _UPDATABLE and value is not None:
            update[key] = value
        else:
            refusals.append(_refusal(key, value))
    return update, refusals


def _refusal(key: str, value: object) -> Refusal:
    instead = "Restore it, or destroy this stack and deploy it again: that makes a new cluster."
    if key in _UPDATABLE:
        instead = "Set it explicitly: it can be changed, but not be left out again."
    return Refusal(what=key, group=None, wanted=value, instead=instead)

"""Which changes of a HyperPod cluster no call makes, whatever asks for them.

The function refuses them while it provisions, and the command line before a deployment.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.clusters import (
    GROUP_LISTS,
    NAME,
    NODE_TYPE,
    ClusterInput,
    Described,
    Group,
    Groups,
    groups_of,
    leads,
    node_type,
    present_groups,
)

TAGS = "Tags"
# Each has calls of its own, or none.
_APART = frozenset({TAGS, "ClusterName", *GROUP_LISTS})
_NESTED = "SharedEnvironmentConfig"
_STATES = frozenset({"FailureMessage", "S3OutputPath", "Status"})


def requested_value(value: object) -> object:
    """Return what a request would have for a described value: what is desired, else current."""
    if not isinstance(value, Mapping):
        return value
    shown = {
        key: requested_value(item) if key == _NESTED else item
        for key, item in sorted(value.items())
        if key not in _STATES
    }
    return {key.removeprefix("Current").removeprefix("Desired"): shown[key] for key in shown}


def means_the_same(one: object, other: object) -> bool:
    """Compare regardless of the order of lists: subnets and security groups have none."""
    return one == other or _canonical(one) == _canonical(other)


def _canonical(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [f"{key}={_canonical(item)}" for key, item in sorted(value.items())]
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(sorted(map(_canonical, value))) + "]"
    return json.dumps(value, default=str)


_FLEXIBLE = "InstanceRequirements"
# Of an existing group, UpdateCluster takes the same role and threads as at its creation:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html
_ALWAYS_FIXED = ("OverrideVpcConfig", "ExecutionRole", "ThreadsPerCore")
_FIXED_IN_GROUP = (*_ALWAYS_FIXED, "InstanceType", _FLEXIBLE)
# https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
_VOLUME_KEY = "VolumeKmsKeyId"
# HyperPod keeps or chooses these when they are left out.
_CHOSEN = frozenset({"ThreadsPerCore"})
KEYS = {
    "AutoScaling": "auto_scaling",
    "ClusterRole": "role_arn",
    "ExecutionRole": "execution_role_arn",
    "InstanceRequirements": "instance_types",
    "InstanceType": "instance_type",
    "NodeProvisioningMode": "node_provisioning_mode",
    "OverrideVpcConfig": "override_vpc",
    "ThreadsPerCore": "threads_per_core",
    "TieredStorageConfig": "tiered_storage",
}
"""What the configuration calls a field, where it has a key for it."""
_RENAME = "Give the group another name: a new group is made and the old one removed."
_KEEP_KEY = f"{_RENAME} Or keep its volumes as they are by encryption.node_volumes: false."
_SWITCH_OFF = "Leave autoscaling out, deploy, then set the role and autoscaling again."
_SET_IT = "Set it explicitly: it can be changed, but not be left out again."
_ANOTHER_DEPLOYMENT = (
    "Restore cluster.orchestrator, or destroy this deployment first. A configuration with another "
    "name makes a second cluster."
)
_KEEP_DATABASE = (
    "Restore cluster.slurm.accounting: HyperPod takes another database, but does not go back to "
    "the one on the controller."
)
_NEW_NODE_TYPE = "Restore slurm.node_type, and make a new group for nodes of the other type."
_KEEP_CONTROLLER = (
    "Restore the group: a cluster has one controller, with Slurm's queue on it. For another one, "
    "destroy this stack and deploy it again."
)
_RESTORE = "Restore it, or destroy this stack and deploy it again: that makes a new cluster."
# UpdateCluster has NodeProvisioningMode too, but no page of AWS says that an existing cluster takes
# another one: a call that HyperPod accepts and ignores would never be done.
UPDATABLE = frozenset(
    {
        "AutoScaling",
        "ClusterRole",
        "NodeRecovery",
        "Orchestrator",
        "RestrictedInstanceGroupsConfig",
        "TieredStorageConfig",
    }
)
WHEN_LEFT_OUT: Mapping[str, object] = {
    "AutoScaling": {"Mode": "Disable"},
    "TieredStorageConfig": {"Mode": "Disable"},
}
ROLE = "ClusterRole"
ORCHESTRATOR = "Orchestrator"
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
STRATEGY, MANAGED = "SlurmConfigStrategy", "Managed"
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
_DATABASE = "AccountingDatabase"
# HyperPod's own orchestrator when a request names none.
_OWN_ORCHESTRATOR: Mapping[str, Any] = {"Slurm": {}}


def orchestrator_of(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the orchestrator of a request or a description, without what may change of it."""
    return {
        kind: {key: value for key, value in own.items() if key not in {STRATEGY, _DATABASE}}
        for kind, own in (cluster.get(ORCHESTRATOR) or _OWN_ORCHESTRATOR).items()
    }


def orchestrator_settings(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the orchestrator of a request or a description is told, by member."""
    own = (cluster.get(ORCHESTRATOR) or {}).values()
    return {key: value for settings in own for key, value in settings.items()}


def keeps_database(wanted: ClusterInput, described: Described) -> bool:
    """Say whether a cluster has an accounting database that the request does not name."""
    there = _DATABASE in orchestrator_settings(described)
    return there and _DATABASE not in orchestrator_settings(wanted)


def scales(described: Described) -> bool:
    """Say whether autoscaling is on."""
    return (described.get("AutoScaling") or {}).get("Mode") == "Enable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A change that HyperPod cannot make of a field, such as VpcConfig, of a group or the cluster.

    `instead` is what the user should do, as a sentence.
    """

    what: str
    group: str | None = None
    instead: str

    @property
    def named(self) -> str:
        """The field with its key in the configuration, if it has one."""
        key = KEYS.get(self.what)
        return self.what if key is None else f"{self.what} (in the configuration: {key})"


def changed_fields(wanted: ClusterInput, former: ClusterInput | None) -> frozenset[str]:
    """Return the cluster's own fields that are asked to change: without former, all wanted ones."""
    return frozenset(
        key
        for key in {*wanted, *(former or {})} - _APART
        if former is None or not means_the_same(former.get(key), wanted.get(key))
    )


def refusals(
    wanted: ClusterInput, described: Described, *, asked: frozenset[str], former: Groups
) -> Iterator[Refusal]:
    """Yield the changes that are asked for and cannot be made.

    `asked` are the cluster's own fields that are asked to change, `former` the groups that were
    wanted before.
    """
    yield from _of_the_cluster(wanted, described, asked)
    yield from _of_groups(wanted, described, former)


def _of_the_cluster(
    wanted: ClusterInput, described: Described, asked: frozenset[str]
) -> Iterator[Refusal]:
    for key in sorted(asked):
        value = wanted.get(key)
        if means_the_same(requested_value(described.get(key)), value):
            continue
        if key == ORCHESTRATOR:
            if not means_the_same(orchestrator_of(described), orchestrator_of(wanted)):
                yield Refusal(what=key, instead=_ANOTHER_DEPLOYMENT)
            elif keeps_database(wanted, described):
                yield Refusal(what=_DATABASE, instead=_KEEP_DATABASE)
        elif key == ROLE:  # without autoscaling the role does nothing, and no call takes it away
            if value is not None and scales(described):
                yield Refusal(what=key, instead=_SWITCH_OFF)
        elif key not in UPDATABLE:
            yield Refusal(what=key, instead=_RESTORE)
        elif value is None and key not in WHEN_LEFT_OUT:
            yield Refusal(what=key, instead=_SET_IT)


_INSTEAD = {_VOLUME_KEY: _KEEP_KEY, NODE_TYPE: _NEW_NODE_TYPE}


def _of_groups(wanted: ClusterInput, described: Described, former: Groups) -> Iterator[Refusal]:
    for name in present_groups(described).keys() - groups_of(wanted).keys():
        if leads(former.get(name, {})):
            yield Refusal(what=NAME, group=name, instead=_KEEP_CONTROLLER)
    for key in GROUP_LISTS:
        present, others = present_groups({key: described.get(key)}), present_groups(described)
        for group in wanted.get(key) or ():
            name = group[NAME]
            if name in others and name not in present:
                yield Refusal(what=key, group=name, instead=_RENAME)
            elif name in present:
                other = _KEEP_CONTROLLER if leads(group) else _RENAME
                for fixed in _fixed(group, present[name], former.get(name)):
                    yield Refusal(what=fixed, group=name, instead=_INSTEAD.get(fixed, other))


def _fixed(group: Group, details: Group, before: Group | None) -> Iterator[str]:
    """Return what is asked to change in a group and never does."""
    # The list of a flexible group may change; anything else about the type may not.
    flexible = group.get(_FLEXIBLE) and details.get(_FLEXIBLE)
    for key in _ALWAYS_FIXED if flexible else _FIXED_IN_GROUP:
        value = group.get(key)
        if value is None and key in _CHOSEN:
            continue
        asked = before is None or not means_the_same(before.get(key), value)
        if asked and not means_the_same(requested_value(details.get(key)), value):
            yield key
    asked = before is None or node_type(group) != node_type(before)
    if asked and node_type(details) not in {"", node_type(group)}:
        yield NODE_TYPE
    asked = before is None or _other_volume_key(group, before)
    if asked and _other_volume_key(group, details):
        yield _VOLUME_KEY


def _other_volume_key(group: Group, other: Group) -> bool:
    """Return whether a volume that both have has another key; each has a root volume."""
    wanted, there = _volume_keys(group), _volume_keys(other)
    return any(wanted.get(root) != there.get(root) for root in {True, *(wanted.keys() & there)})


def _volume_keys(group: Group) -> dict[bool, str]:
    """Return the id of each volume's key, or an empty text, by whether it is the root volume."""
    volumes = [
        storage["EbsVolumeConfig"]
        for storage in group.get("InstanceStorageConfigs") or ()
        if storage.get("EbsVolumeConfig")
    ]
    keys = {
        bool(volume.get("RootVolume")): str(volume.get("VolumeKmsKeyId") or "").rpartition("/")[2]
        for volume in volumes
    }
    return {True: "", **keys}

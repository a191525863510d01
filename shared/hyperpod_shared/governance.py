"""What task governance consists of: names, the mark of who made it, and statuses.

An object carries its owner in its description, not in tags: a description is read and written with
the object, while tags are read apart, and may lag.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from hyperpod_shared.owner import Owner, digest

ADDON = "amazon-sagemaker-hyperpod-taskgovernance"
TEAM_NAMESPACE = "hyperpod-ns-"
"""How the namespace begins that HyperPod makes for a team."""
KUEUE_NAMESPACE, KUEUE_DEPLOYMENT = "kueue-system", "kueue-controller-manager"
# botocore, sagemaker.EntityName.
_LONGEST_NAME = 63
_DIGITS = 8
_MARK = re.compile(r"hyperpod-cdk: (?P<resource>\S+) of (?P<stack>\S+)/[^/\s]+")


class Noun(StrEnum):
    """The kinds of objects, as the API calls them."""

    POLICY = "ClusterSchedulerConfig"
    QUOTA = "ComputeQuota"

    @property
    def words(self) -> str:
        """What the console calls it."""
        return "cluster policy" if self is Noun.POLICY else "compute quota"

    @property
    def command(self) -> str:
        """How the AWS CLI's commands end that are about it."""
        return "cluster-scheduler-config" if self is Noun.POLICY else "compute-quota"

    def operation(self, verb: str) -> str:
        """Return boto3's name of what creates, updates, deletes, describes or lists some."""
        plural = "s" if verb == "list" else ""
        return f"{verb}_{self.command.replace('-', '_')}{plural}"


class GovernanceStatus(StrEnum):
    """The SchedulerResourceStatus of such an object, by botocore."""

    CREATING = "Creating"
    CREATED = "Created"
    CREATE_FAILED = "CreateFailed"
    CREATE_ROLLBACK_FAILED = "CreateRollbackFailed"
    UPDATING = "Updating"
    UPDATED = "Updated"
    UPDATE_FAILED = "UpdateFailed"
    UPDATE_ROLLBACK_FAILED = "UpdateRollbackFailed"
    DELETING = "Deleting"
    DELETED = "Deleted"
    DELETE_FAILED = "DeleteFailed"
    DELETE_ROLLBACK_FAILED = "DeleteRollbackFailed"


IN_FORCE = frozenset({GovernanceStatus.CREATED, GovernanceStatus.UPDATED})
"""The statuses of what is as it was asked for."""


def policy_name(cluster_name: str) -> str:
    """Return the name of a cluster's policy."""
    return _name(f"{cluster_name}-policy")


def quota_name(cluster_name: str, team: str) -> str:
    """Return the name of a team's quota; quotas of one account may share their names."""
    return _name(f"{cluster_name}-{team}")


def namespace_of(team: str) -> str:
    """Return the namespace that HyperPod makes for a team's jobs.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html
    """
    return f"{TEAM_NAMESPACE}{team}"


def queue_of(team: str) -> str:
    """Return the LocalQueue in that namespace."""
    return f"{namespace_of(team)}-localqueue"


def priority_of(name: str) -> str:
    """Return the WorkloadPriorityClass that HyperPod makes of a priority."""
    return f"{name}-priority"


def _name(whole: str) -> str:
    if len(whole) <= _LONGEST_NAME:
        return whole
    start = whole[: _LONGEST_NAME - _DIGITS - 1].rstrip("-")
    return f"{start}-{digest(whole)[:_DIGITS]}"


def mark_of(owner: Owner) -> str:
    """Return the description of what an owner makes."""
    return f"hyperpod-cdk: {owner.logical_id} of {owner.stack_id}"


def is_marked_by(description: str, owner: Owner) -> bool:
    """Say whether an owner, or a former stack of its name, made what has a description."""
    found = _MARK.search(description)
    return found is not None and (found["resource"], found["stack"]) == (
        owner.logical_id,
        owner.stack_id.rpartition("/")[0],
    )


def maker_of(description: str) -> str | None:
    """Return the name of the stack that made what has a description; None if none did."""
    found = _MARK.search(description)
    return None if found is None else found["stack"].rpartition("/")[2]


# Lists whose items are found by these members; the order of items means nothing.
_KEYS = ("InstanceType", "Name")
# Left out and empty are the same.
_LIMITS = "AbsoluteBorrowLimits"
_SMALLEST_DIFFERENCE = 1e-6


def says(found: object, wanted: object) -> bool:
    """Say whether what is described has all that is wanted.

    HyperPod fills in what a request leaves out, such as the vCPUs that go with accelerators.
    """
    if found == wanted:
        return True
    if isinstance(wanted, Mapping):
        if not isinstance(found, Mapping):
            return False
        keys = {*wanted, *({_LIMITS} & found.keys())}
        return all(says(found.get(key), wanted.get(key, [])) for key in keys)
    if isinstance(wanted, list):
        there, ours = _sorted(found or []), _sorted(wanted)
        return len(there) == len(ours) and all(map(says, there, ours))
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return isinstance(found, int | float) and abs(found - wanted) < _SMALLEST_DIFFERENCE
    return False


def _sorted(items: Any) -> Sequence[Any]:  # noqa: ANN401 - a list of an answer
    def key(item: Mapping[str, Any]) -> str:
        partition = item.get("AcceleratorPartition") or {}
        name = next((str(item[each]) for each in _KEYS if each in item), "")
        return f"{name} {partition.get('Type', '')}"

    return sorted(items, key=key)

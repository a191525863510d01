"""The request of CloudFormation about one cluster: its properties, and what it asks for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hyperpod_shared.aws_errors import is_transient
from hyperpod_shared.cluster_changes import orchestrator_of
from hyperpod_shared.clusters import Groups, groups_of
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import Owner, digest
from provisioner.framework.operation import StackPhase
from provisioner.framework.properties import Properties, json_object, one_of, parsed, text
from provisioner.framework.request import RequestType
from provisioner.framework.retry import aws_patience
from provisioner.framework.turn import Turn
from provisioner.hyperpod.changes import Aim

ACCEPTED, IN_SERVICE, NODES = "accepted", "in_service", "nodes"
FAIL, CONTINUE = "fail", "continue"
KEEP, DELETE = "keep", "delete"
MOST_WAIT_MINUTES = 55
"""CloudFormation gives a custom resource an hour; the last answer needs some of it."""
_WAIT_MINUTES = 50


def _minutes(name: str, value: object) -> int:
    return int(one_of(*map(str, range(1, MOST_WAIT_MINUTES + 1)))(name, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClusterProperties(Properties):
    """What the CDK app asks for; but for the first two, all may be left out.

    DeleteTaskGovernance, which earlier versions of the app set, means nothing any more.

    Attributes:
        wait_for: When a create or an update is done: `accepted`, as soon as HyperPod took it on;
            `in_service`, when the cluster is; `nodes`, when no group is short of nodes, or
            it is clear which are and why.
        wait_minutes: How long that may take, 1 to 55.
        on_shortage: What becomes of a deployment that is not done by then: `fail` or `continue`.
        on_create_failure: What becomes of a cluster whose creation failed: `keep` or `delete`.
        software_update: A text; another one than before gives every group without an AMI of its
            own the latest one. Empty: AMIs stay.
    """

    PHYSICAL_ID = "{0.cluster_name}"

    cluster_name: str = parsed(text)
    cluster_input: Mapping[str, Any] = parsed(json_object, name="Request")
    wait_for: str = parsed(one_of(ACCEPTED, IN_SERVICE, NODES), default=NODES)
    wait_minutes: int = parsed(_minutes, default=_WAIT_MINUTES)
    on_shortage: str = parsed(one_of(FAIL, CONTINUE), default=CONTINUE)
    on_create_failure: str = parsed(one_of(KEEP, DELETE), default=KEEP)
    software_update: str = parsed(lambda _name, value: str(value), default="")

    def __post_init__(self) -> None:
        """Refuse two different names."""
        if self.cluster_input.get("ClusterName") != self.cluster_name:
            raise ProvisioningError(
                f"The property ClusterName is {self.cluster_name}, but Request.ClusterName is "
                f"{self.cluster_input.get('ClusterName')}",
                next_step="Use the same name for both.",
            )


_MINUTE = 60.0
# A poll that came without a claim begins now, and would wait for ever.
_LEAST_WAIT_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class ClusterRequest:
    """One request.

    Attributes:
        request_id: The same for every attempt at this request.
        begun_at: When `on_event` began, in seconds since the epoch.
        sent_at: When CloudFormation sent the request.
        former: The properties that were wanted before; None unless this is an Update.
        rolls_back: Whether it is an Update that takes back one that failed.
        makes_a_cluster: Whether the stack has no cluster of the wanted name yet.
        waits: Whether `on_event` has answered already and this is a poll of `is_complete`.
        phase: What the stack does in the operation that the request belongs to; None if a Delete
            cannot find out.
        asks: Stands for the properties that it wants.
        takes_back: Stands for those that it takes back; empty if it is no rollback.
    """

    type: RequestType
    request_id: str
    owner: Owner
    begun_at: float
    sent_at: float
    wanted: HyperPodClusterProperties
    former: Mapping[str, Any] | None
    rolls_back: bool
    renames: bool
    makes_a_cluster: bool
    waits: bool
    phase: StackPhase | None
    asks: str
    takes_back: str

    @classmethod
    def of(cls, wanted: HyperPodClusterProperties, turn: Turn, *, waits: bool) -> "ClusterRequest":
        """Return what is to be decided about; `waits` is whether this is a poll."""
        request, former = turn.request, turn.request.old_properties
        name = request.properties.get("ClusterName")
        renames = former is not None and former.get("ClusterName") != name
        return cls(
            type=request.type,
            request_id=request.request_id,
            owner=request.owner,
            begun_at=request.begun_at or turn.clock.now(),
            sent_at=turn.sent_at,
            former=former,
            rolls_back=turn.rolls_back,
            renames=renames,
            makes_a_cluster=renames or request.type == "Create",
            wanted=wanted,
            waits=waits,
            phase=turn.phase,
            asks=_key(request.properties),
            takes_back=_key(former or {}) if turn.rolls_back else "",
        )

    @property
    def continues(self) -> bool:
        """Whether a shortage of nodes is no failure."""
        return self.wanted.on_shortage == CONTINUE

    def is_late(self, now: float) -> bool:
        """Say whether the request has waited for as long as the configuration lets it."""
        minutes = MOST_WAIT_MINUTES if self.type == "Delete" else self.wanted.wait_minutes
        return now >= self.sent_at + minutes * _MINUTE

    def is_at_its_end(self, now: float) -> bool:
        """Say whether the request has to be answered now, done or not."""
        return now >= self.sent_at + MOST_WAIT_MINUTES * _MINUTE

    def may_succeed_later(self, error: Exception, now: float) -> bool:
        """Say whether another poll may succeed, and there is time for one."""
        if is_transient(error) or not self.waits:
            return is_transient(error)
        return _LEAST_WAIT_SECONDS < now - self.begun_at < aws_patience(error)

    def renames_in_place(self) -> bool:
        """Say whether another name is asked for, and not on another EKS cluster.

        Raises:
            ProvisioningError: The former properties cannot be read.
        """
        if not self.renames:
            return False
        former = orchestrator_of(self._former_input)
        wanted = orchestrator_of(self.wanted.cluster_input)
        return former == wanted or former.keys() != wanted.keys()

    def aim(self, *, clears_groups: bool = False) -> Aim:
        """Return what is asked for.

        `clears_groups` says that groups that no template names are a failed request's.

        Raises:
            ProvisioningError: The former properties cannot be read.
        """
        software, before = self.wanted.software_update, (self.former or {}).get("SoftwareUpdate")
        return Aim(
            wanted=self.wanted.cluster_input,
            former=None if self.makes_a_cluster else self._former_input,
            rolls_back=self.rolls_back,
            clears_groups=clears_groups,
            latest_software=self.type == "Update" and software not in {"", before},
        )

    def changed_groups(self) -> set[str]:
        """Return the groups that the request asks to change."""
        wanted, former = groups_of(self.wanted.cluster_input), groups_of(self.aim().former or {})
        return {name for name in {*wanted, *former} if former.get(name) != wanted.get(name)}

    @property
    def former_groups(self) -> Groups:
        """The groups of the template that was deployed last."""
        if self.former is None or self.renames:
            return {}
        return groups_of(self.wanted.cluster_input if self.rolls_back else self._former_input)

    @cached_property
    def _former_input(self) -> Mapping[str, Any]:
        try:
            return json_object("Request", (self.former or {}).get("Request"))
        except ProvisioningError:
            if self.rolls_back:
                return self.wanted.cluster_input  # it was refused for this, before any call
            raise


def _key(properties: Mapping[str, Any]) -> str:
    """Return what stands for a request's properties."""
    return digest(json.dumps(properties, sort_keys=True))

"""The part of HyperPod that governs tasks, and Kueue: what there truly is, and what reads show."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Any

from hyperpod_shared.governance import KUEUE_DEPLOYMENT, Noun
from tests.provisioner.histories.kubernetes import reach
from tests.provisioner.histories.world import Invocation, Past, World, called
from tests.support.provisioner.fake_s3 import client_error

CLUSTER_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
TOO_MANY = 99
"""A count with which a quota fails whatever is done."""
_WEBHOOK = (
    'Internal error occurred: failed calling webhook "mclusterqueue.kb.io": no endpoints available '
    'for service "kueue-webhook-service"'
)
_IN_FORCE = frozenset({"Created", "Updated"})
_AT_WORK = frozenset({"Creating", "Updating", "Deleting"})
_OF_ONE_NODE = {"VCpu": 48.0, "MemoryInGiB": 192.0}
State = Mapping[str, Any]


@dataclass(kw_only=True)
class GovernanceConduct:
    """How HyperPod and Kueue conduct themselves.

    Attributes:
        available_at: When the deployment of Kueue is Available, in seconds since the beginning.
        webhook_at: When its webhook takes objects, at the same time or later.
        refuses_at_work: Whether a deletion of what is at work is a conflict; AWS does not say.
        keeps_deleted: Whether what is deleted is listed as Deleted for a while.
        failing_deletions: How many deletions fail first.
        cluster_gone_at: When the cluster is gone with all of it; 0: never.
    """

    change_seconds: float = 5.0
    delete_seconds: float = 5.0
    available_at: float = 0.0
    webhook_at: float = 0.0
    refuses_at_work: bool = True
    keeps_deleted: bool = False
    failing_deletions: int = 0
    cluster_gone_at: float = 0.0


@dataclass(kw_only=True)
class GovernanceService:
    """The policies and quotas of one HyperPod cluster.

    Attributes:
        on_change: Told of each change before it is made.
        objects: The state of each object by id; None when it is gone.
    """

    world: World
    conduct: GovernanceConduct
    on_change: Callable[[str, State, Invocation], None]
    objects: dict[str, Past] = field(default_factory=dict)
    helm: None = None

    def __post_init__(self) -> None:
        self._numbers = count()
        self._deletions = 0

    @property
    def truth(self) -> list[State]:
        states = (past.read(self.world.now) for past in self.objects.values())
        return [state for state in states if state is not None and state["Status"] != "Deleted"]

    @property
    def has_cluster(self) -> bool:
        gone_at = self.conduct.cluster_gone_at
        return not gone_at or self.world.elapsed < gone_at

    def put(self, noun: Noun, request: Mapping[str, Any], *, status: str = "Created") -> str:
        identifier = f"{next(self._numbers):012d}"
        now = self.world.now
        state = {
            **{key: value for key, value in request.items() if key != "Tags"},
            f"{noun}Id": identifier,
            f"{noun}Version": 1,
            "Status": status,
            "noun": noun,
            "CreationTime": datetime.fromtimestamp(now, tz=UTC),
            "LastModifiedTime": datetime.fromtimestamp(now, tz=UTC),
        }
        self.objects[identifier] = Past()
        self.objects[identifier].put(now, _filled_in(state))
        return identifier

    @called("sagemaker")
    def describe_cluster(self, *, ClusterName: str) -> dict[str, Any]:
        assert ClusterName == "ml"
        if not self.has_cluster:
            raise client_error("ResourceNotFound", "DescribeCluster", "not found")
        return {"ClusterStatus": "InService", "ClusterArn": CLUSTER_ARN}

    def __getattr__(self, method: str) -> Callable[..., dict[str, Any]]:
        """Return a method of boto3's about objects of a noun."""
        for noun in Noun:
            for verb in ("list", "describe", "create", "update", "delete"):
                if noun.operation(verb) == method:
                    return partial(self._called, noun, verb)
        raise AttributeError(method)

    def _called(self, noun: Noun, verb: str, **request: Any) -> dict[str, Any]:
        what = f"{verb.capitalize()}{noun}"
        effect = partial(getattr(self, f"_{verb}"), noun, what, request)
        answer: dict[str, Any] = self.world.call(
            "sagemaker", f"{what}s" if verb == "list" else what, effect
        )
        return answer

    def kubectl(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Do what kubectl would: list Kueue's deployment."""
        assert timeout_seconds >= 1.0
        assert arguments[:2] == ["get", "deployments"]
        reach(self.world, "kubectl get deployments")
        available = str(self.world.elapsed >= self.conduct.available_at)
        conditions = [{"type": "Available", "status": available}]
        item = {
            "kind": "Deployment",
            "metadata": {"name": KUEUE_DEPLOYMENT},
            "status": {"conditions": conditions},
        }
        return json.dumps({"kind": "List", "items": [item]})

    @called("eks", "DescribeCluster")
    def describe_eks(self, *, name: str) -> dict[str, Any]:
        return {
            "cluster": {"name": name, "status": "ACTIVE", "endpoint": "https://x", "arn": "arn"}
        }

    def _list(self, noun: Noun, _what: str, request: Mapping[str, Any]) -> dict[str, Any]:
        assert request["ClusterArn"] == CLUSTER_ARN
        at = self.world.now - self.world.lag(self.world.faults.describe_lag)
        found = [(key, past.read(at)) for key, past in self.objects.items()]
        shown = [
            {f"{noun}Id": key, "Name": state["Name"], "Status": state["Status"]}
            for key, state in found
            if state is not None and state["noun"] is noun and self.has_cluster
        ]
        return {f"{noun}Summaries": shown}

    def _describe(self, noun: Noun, what: str, request: Mapping[str, Any]) -> dict[str, Any]:
        at = self.world.now - self.world.lag(self.world.faults.describe_lag)
        state = self.objects[request[f"{noun}Id"]].read(at)
        if state is None or not self.has_cluster:
            raise client_error("ResourceNotFound", what, "not found")
        return dict(state)

    def _create(self, noun: Noun, what: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if not self.has_cluster:
            raise client_error("ResourceNotFound", what, "no such cluster")
        for state in self.truth:
            team = state.get("ComputeQuotaTarget", {}).get("TeamName")
            of_team = team == request.get("ComputeQuotaTarget", {}).get("TeamName")
            if state["noun"] is noun and (state["Name"] == request["Name"] or of_team):
                raise client_error("ConflictException", what, f"{state['Name']} exists")
        self._tell(what, {**request, "noun": noun})
        identifier = self.put(noun, request, status="Creating")
        self.world.after(self.conduct.change_seconds, lambda: self._settle(identifier, "Created"))
        return {f"{noun}Id": identifier}

    def _update(self, noun: Noun, what: str, request: Mapping[str, Any]) -> dict[str, Any]:
        identifier = request[f"{noun}Id"]
        state = self._there(noun, identifier, what)
        if request["TargetVersion"] != state[f"{noun}Version"] or state["Status"] in _AT_WORK:
            raise client_error("ConflictException", what, f"{state['Status']}, other version")
        self._tell(what, {**state, **request})
        version = state[f"{noun}Version"] + 1
        changed = {key: value for key, value in request.items() if key != "TargetVersion"}
        self._put(identifier, {**state, **changed, f"{noun}Version": version}, status="Updating")
        self.world.after(self.conduct.change_seconds, lambda: self._settle(identifier, "Updated"))
        return {f"{noun}Version": version}

    def _delete(self, noun: Noun, what: str, request: Mapping[str, Any]) -> dict[str, Any]:
        identifier = request[f"{noun}Id"]
        state = self._there(noun, identifier, what)
        if state["Status"] == "Deleting":
            return {}
        if state["Status"] in _AT_WORK and self.conduct.refuses_at_work:
            raise client_error("ConflictException", what, f"it is {state['Status']}")
        self._tell(what, state)
        self._put(identifier, state, status="Deleting")
        self.world.after(self.conduct.delete_seconds, lambda: self._gone(identifier))
        return {}

    def _there(self, noun: Noun, identifier: str, what: str) -> State:
        state: State | None = self.objects[identifier].read(self.world.now)
        if state is None or state["Status"] == "Deleted" or not self.has_cluster:
            raise client_error("ResourceNotFound", what, f"no {noun} {identifier}")
        return state

    def _tell(self, what: str, state: State) -> None:
        invocation = self.world.invocation
        self.world.note(invocation.who, "%s %s", what, state["Name"])
        self.on_change(what, state, invocation)

    def _put(self, identifier: str, state: State, *, status: str, reason: str = "") -> None:
        now = self.world.now
        changed = {
            **_filled_in(state),
            "Status": status,
            "LastModifiedTime": datetime.fromtimestamp(now, tz=UTC),
        }
        changed.pop("FailureReason", None)
        self.objects[identifier].put(
            now, {**changed, **({"FailureReason": reason} if reason else {})}
        )

    def _settle(self, identifier: str, status: str) -> None:
        state = self.objects[identifier].read(self.world.now)
        if state is None or state["Status"] not in {"Creating", "Updating"}:
            return
        resources = state.get("ComputeQuotaConfig", {}).get("ComputeQuotaResources", [])
        reason = ""
        if self.world.elapsed < self.conduct.webhook_at:
            reason = _WEBHOOK
        elif any(each.get("Count") == TOO_MANY for each in resources):
            reason = "The quota is more than the cluster has"
        failed = "CreateFailed" if status == "Created" else "UpdateFailed"
        status = failed if reason else status
        self.world.note("HyperPod", "%s is %s", state["Name"], status)
        self._put(identifier, state, status=status, reason=reason)

    def _gone(self, identifier: str) -> None:
        state = self.objects[identifier].read(self.world.now)
        self._deletions += 1
        if self._deletions <= self.conduct.failing_deletions:
            self._put(identifier, state, status="DeleteFailed", reason="It is in use")
            return
        self.world.note("HyperPod", "%s is gone", state["Name"])
        if self.conduct.keeps_deleted:
            self._put(identifier, state, status="Deleted")
            self.world.after(300.0, lambda: self.objects[identifier].put(self.world.now, None))
        else:
            self.objects[identifier].put(self.world.now, None)

    def drift(self, name: str) -> None:
        for identifier, past in self.objects.items():
            state = past.read(self.world.now)
            if state is not None and state["Name"] == name and state["Status"] in _IN_FORCE:
                config = {**state["ComputeQuotaConfig"], "PreemptTeamTasks": "Never"}
                version = state["ComputeQuotaVersion"] + 1
                changed = {**state, "ComputeQuotaConfig": config, "ComputeQuotaVersion": version}
                self._put(identifier, changed, status="Updated")
                self.world.note("somebody", "changes %s", name)


def _filled_in(state: State) -> dict[str, Any]:
    """Return an object as HyperPod shows it: with the vCPUs and memory that go with nodes."""
    config = state.get("ComputeQuotaConfig")
    if config is None:
        return dict(state)
    resources = [{**_OF_ONE_NODE, **each} for each in config["ComputeQuotaResources"]]
    return {**state, "ComputeQuotaConfig": {**config, "ComputeQuotaResources": resources}}

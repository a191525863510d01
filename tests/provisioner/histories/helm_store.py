"""helm with its storage of one release, and what kubectl shows, under virtual time.

Written from helm's documents and source: each install, upgrade and rollback adds a revision that
is pending until it ends; a process that is killed leaves it so, and an upgrade is refused as long
as the last revision is pending, a rollback is not. An upgrade supersedes the revision that was
deployed when it began, a rollback all that are. A process that is told to stop records a failure.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from hyperpod_shared.errors import NotReadyError
from provisioner.framework.turn import Turn
from provisioner.helm.client import ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import Wanted
from provisioner.kubernetes.cluster import Cluster, Containers
from provisioner.kubernetes.failures import (
    CommandFailedError,
    CommandTimeoutError,
)
from tests.provisioner.histories.invariants import SECRET
from tests.provisioner.histories.kubernetes import UNREACHABLE, reach
from tests.provisioner.histories.world import (
    LONGEST_RUN_SECONDS,
    STARTS_AT,
    Invocation,
    KilledError,
    World,
)

NAMESPACE = "training"
DEPLOYED, FAILED = "deployed", "failed"
Content = tuple[str, int]
"""A chart's key, and the one value that differs."""
PARTLY: Content = ("parts of two charts", 0)
_BUSY = "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress"
_MANIFEST = """---
# Source: hyperpod-helm-chart/templates/operator.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: operator
  namespace: training
"""
_NODE = {
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


@dataclass(kw_only=True)
class HelmConduct:
    """How this history's helm and Kubernetes conduct themselves.

    Attributes:
        ready_seconds: After how long workloads are ready.
        failing_upgrades: The numbers of the upgrades, from 0, that fail.
        terminating: From when until when the namespace is being deleted, in seconds.
        creating: From when until when EKS is not ready, in seconds.
    """

    upgrade_seconds: float = 20.0
    uninstall_seconds: float = 10.0
    ready_seconds: float = 60.0
    failing_upgrades: tuple[int, ...] = ()
    terminating: tuple[float, float] = (0.0, 0.0)
    creating: tuple[float, float] = (0.0, 0.0)


@dataclass(kw_only=True)
class StoredRevision:
    """A revision as helm stores it, and what it has."""

    number: int
    status: str
    description: str
    updated: float
    labels: Mapping[str, str]
    content: Content


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that changes the release, for the invariants."""

    name: str
    invocation: Invocation
    at: float


@dataclass(kw_only=True)
class HelmStore:
    """One release.

    Attributes:
        on_change: Told of each command that changes the release, before it does.
        at_work: The commands that are at work.
        upgrades: How many upgrades have begun.
        files: What the commands read, by path; real files would take most of the time.
    """

    world: World
    conduct: HelmConduct
    on_change: Callable[[Command], None] = lambda _command: None
    revisions: list[StoredRevision] = field(default_factory=list)
    running: Content | None = None
    changed_at: float = STARTS_AT
    at_work: list[Command] = field(default_factory=list)
    upgrades: int = 0
    files: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def connect(
        self, properties: HelmReleaseProperties, wanted: Wanted, turn: Turn
    ) -> Iterator[ReleaseClient]:
        if self._is_within(self.conduct.creating):
            raise NotReadyError("The EKS cluster ml is still CREATING", next_step="Wait for it.")
        home = cast("Path", _Folder(files=self.files))
        yield ReleaseClient(
            properties=properties,
            wanted=wanted,
            turn=turn,
            cluster=_Cluster(self),
            run_helm=self.helm,
            run_kubectl=self.kubectl,
            home=home,
            fetch_chart=lambda: cast("Path", _Chart(properties.chart_key)),
        )

    def helm(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        options = dict(pairwise(arguments))
        match arguments[0], arguments[1]:
            case "get", "metadata":
                return self._metadata()
            case "history", _:
                reach(self.world, "helm history")
                self._present()
                return json.dumps([_entry(one) for one in self.revisions])
            case "get", "manifest":
                reach(self.world, "helm get manifest")
                return _MANIFEST
            case "template", _:
                return _MANIFEST
            case "upgrade", _:
                values = json.loads(self.files[options["--values"]])
                labels = dict(pair.split("=") for pair in options["--labels"].split(","))
                self._upgrade(
                    content=(arguments[2], values["size"]),
                    labels=labels,
                    description=options["--description"],
                    seconds=timeout_seconds,
                )
            case "rollback", _:
                self._roll_back(int(arguments[2]), timeout_seconds)
            case "uninstall", _:
                self._uninstall(timeout_seconds)
            case _:
                raise AssertionError(arguments)
        return ""

    def kubectl(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        assert timeout_seconds >= 1.0
        options = dict(pairwise(arguments))
        if arguments[:2] == ["annotate", "--local"]:
            text = self.files[options["--filename"]]
            return json.dumps(self._deployment()) if "kind: Deployment" in text else ""
        reach(self.world, f"kubectl {arguments[0]} {arguments[1]}")
        if arguments[:2] == ["get", "nodes"]:
            return json.dumps({"kind": "NodeList", "items": [_NODE]})
        if arguments[:2] == ["get", "events"]:
            return json.dumps({"kind": "EventList", "items": []})
        text = self.files[options["--filename"]]
        if '"Namespace"' in text:
            return json.dumps(self._namespace()) if self.is_terminating else ""
        return json.dumps(self._deployment()) if self.running else ""

    @property
    def is_terminating(self) -> bool:
        return self._is_within(self.conduct.terminating)

    @property
    def is_ready(self) -> bool:
        return self.world.now >= self.changed_at + self.conduct.ready_seconds

    @property
    def last(self) -> StoredRevision | None:
        return self.revisions[-1] if self.revisions else None

    def _is_within(self, span: tuple[float, float]) -> bool:
        return not self.world.calm and span[0] <= self.world.elapsed < span[1]

    def _end_late(self, invocation: Invocation) -> None:
        if self.world.now - invocation.begun_at > LONGEST_RUN_SECONDS:
            self.world.note(invocation.who, "timed out")
            raise KilledError

    def _present(self) -> StoredRevision:
        if not self.revisions:
            raise CommandFailedError("Error: release: not found")
        return self.revisions[-1]

    def _metadata(self) -> str:
        reach(self.world, "helm get metadata")
        last = self._present()
        return json.dumps(
            {
                "chart": "hyperpod-helm-chart",
                "version": "0.1.0",
                "labels": dict(last.labels),
                "deployedAt": _time(last.updated),
                "status": last.status,
                "revision": last.number,
            }
        )

    def _upgrade(
        self, *, content: Content, labels: Mapping[str, str], description: str, seconds: float
    ) -> None:
        invocation = self.world.invocation
        self._reach_to_change("helm upgrade")
        last = self.last
        if last is not None and last.status.startswith("pending"):
            raise CommandFailedError(_BUSY)
        if self.is_terminating:
            raise CommandFailedError(
                f'Error: secrets "x" is forbidden: unable to create new content in namespace '
                f"{NAMESPACE} because it is being terminated"
            )
        served = next((one for one in self.revisions if one.status == DEPLOYED), None)
        fails = self.upgrades in self.conduct.failing_upgrades and not self.world.calm
        self.upgrades += 1
        status = "pending-upgrade" if last else "pending-install"
        own = self._begun("helm upgrade", status, content, labels, description=description)
        with self._working("helm upgrade", invocation, own, seconds):
            self.running, self.changed_at = PARTLY, self.world.now
        if fails:
            own.status = FAILED
            own.description = "Upgrade failed: the object is invalid"
            raise CommandFailedError(
                f"Error: UPGRADE FAILED: admission webhook denied the request: {SECRET} is weak"
            )
        self._completed(own, [served] if served else [], invocation)

    def _roll_back(self, number: int, seconds: float) -> None:
        invocation = self.world.invocation
        self._reach_to_change("helm rollback")
        target = next((one for one in self.revisions if one.number == number), None)
        if target is None:
            raise CommandFailedError("Error: release has no such revision")
        description = f"Rollback to {number}"
        own = self._begun(
            "helm rollback",
            "pending-rollback",
            target.content,
            target.labels,
            description=description,
        )
        with self._working("helm rollback", invocation, own, seconds):
            self.running, self.changed_at = PARTLY, self.world.now
        served = [one for one in self.revisions if one.status == DEPLOYED]
        self._completed(own, served, invocation)

    def _uninstall(self, seconds: float) -> None:
        invocation = self.world.invocation
        self._reach_to_change("helm uninstall")
        last = self._present()
        self._tell("helm uninstall", invocation)
        self.world.note(invocation.who, "helm uninstall")
        last.status = "uninstalling"
        command = Command(name="helm uninstall", invocation=invocation, at=self.world.now)
        self.at_work.append(command)
        try:
            self.world.sleep(min(self.conduct.uninstall_seconds, seconds))
            self._end_late(invocation)
            if self.conduct.uninstall_seconds > seconds:
                raise CommandTimeoutError("Error: timed out waiting for the condition")
        finally:
            self.at_work.remove(command)
        self.revisions, self.running = [], None

    def _reach_to_change(self, what: str) -> None:
        """Let a command that changes something reach the API; it may be killed later."""
        invocation = self.world.invocation
        self.world.sleep(self.world.random.uniform(0.5, 2.0))
        self._end_late(invocation)
        self._fault = self.world.fault("kubernetes")
        if self._fault is not None:
            self.world.note(invocation.who, "%s: %s", what, self._fault)
        if self._fault == "killed before":
            raise KilledError
        if self._fault == "throttled":
            raise CommandFailedError(UNREACHABLE)

    _fault: str | None = None

    def _tell(self, name: str, invocation: Invocation) -> None:
        self.on_change(Command(name=name, invocation=invocation, at=self.world.now))

    def _begun(
        self,
        name: str,
        status: str,
        content: Content,
        labels: Mapping[str, str],
        *,
        description: str,
    ) -> StoredRevision:
        invocation = self.world.invocation
        self._tell(name, invocation)
        number = self.revisions[-1].number + 1 if self.revisions else 1
        own = StoredRevision(
            number=number,
            status=status,
            description=description,
            updated=self.world.now,
            labels=dict(labels),
            content=content,
        )
        self.revisions.append(own)
        self.world.note(
            invocation.who, "%s to %s size %d: revision %d begins", name, *content, number
        )
        return own

    @contextmanager
    def _working(
        self, name: str, invocation: Invocation, own: StoredRevision, seconds: float
    ) -> Iterator[None]:
        """Let the command take its time, in which other things happen."""
        fault, self._fault = self._fault, None
        command = Command(name=name, invocation=invocation, at=self.world.now)
        self.at_work.append(command)
        try:
            takes = self.conduct.upgrade_seconds
            self.world.sleep(min(takes, seconds) / 2)
            yield
            if fault == "killed after":
                raise KilledError
            self.world.sleep(min(takes, seconds) / 2)
            self._end_late(invocation)
            if takes > seconds:
                own.status, own.description = FAILED, "Upgrade failed: context canceled"
                raise CommandTimeoutError("Error: UPGRADE FAILED: context canceled")
            if fault is not None:
                # Everything is written but for the end of the revision.
                self.running = own.content
                raise CommandFailedError(
                    "Error: UPGRADE FAILED: failed to record release: dial tcp: i/o timeout"
                )
        finally:
            self.at_work.remove(command)

    def _completed(
        self, own: StoredRevision, served: Sequence[StoredRevision], invocation: Invocation
    ) -> None:
        for one in served:
            one.status = "superseded"
        own.status = DEPLOYED
        self.running, self.changed_at = own.content, self.world.now
        self.world.note(invocation.who, "revision %d is deployed", own.number)

    def _deployment(self) -> dict[str, Any]:
        ready = 1 if self.is_ready else 0
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "operator", "namespace": NAMESPACE, "generation": 1},
            "spec": {"replicas": 1},
            "status": {
                "observedGeneration": 1,
                "replicas": 1,
                "updatedReplicas": 1,
                "availableReplicas": ready,
            },
        }

    def _namespace(self) -> dict[str, Any]:
        began = STARTS_AT + self.conduct.terminating[0]
        return {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE, "deletionTimestamp": _time(began)},
            "status": {
                "conditions": [
                    {
                        "type": "NamespaceContentRemaining",
                        "status": "True",
                        "message": "Some resources are remaining",
                    }
                ]
            },
        }


class _Chart(str):
    """A chart in memory: one file, and its key for helm."""

    __slots__ = ()
    name = "operator.yaml"

    def is_dir(self) -> bool:
        return False

    def read_bytes(self) -> bytes:
        return _MANIFEST.encode()


@dataclass(kw_only=True)
class _Folder:
    """A folder in memory, as far as a client writes into one."""

    files: dict[str, str]

    def __truediv__(self, name: str) -> "_File":
        return _File(path=f"/{id(self)}/{name}", files=self.files)


@dataclass(kw_only=True)
class _File:
    path: str
    files: dict[str, str]

    def write_text(self, text: str, *, encoding: str) -> None:
        assert encoding
        self.files[self.path] = text

    def __str__(self) -> str:
        return self.path


class _Cluster(Cluster):
    """What is read without kubectl."""

    def __init__(self, store: HelmStore) -> None:
        arn = "arn:aws:eks:us-west-2:111122223333:cluster/ml"
        super().__init__(server={}, token=lambda: "", arn=arn, tags={})
        object.__setattr__(self, "_store", store)

    def containers(self, *, timeout_seconds: float) -> Containers:
        assert timeout_seconds >= 1.0
        store: HelmStore = self.__dict__["_store"]
        reach(store.world, "GET namespaces", lists=True)
        gone = frozenset({("Namespace", NAMESPACE)}) if store.is_terminating else frozenset()
        return Containers(definitions=frozenset(), terminating=gone)

    def has_release(self, name: str, *, namespace: str, timeout_seconds: float) -> bool:
        assert timeout_seconds >= 1.0
        assert name
        assert namespace == NAMESPACE
        store: HelmStore = self.__dict__["_store"]
        reach(store.world, "GET secrets", lists=True)
        return bool(store.revisions)


def _entry(revision: StoredRevision) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "updated": _time(revision.updated),
        "status": revision.status,
        "chart": "hyperpod-helm-chart-0.1.0",
        "description": revision.description,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()

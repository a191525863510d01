"""helm and its release storage, in memory: what stands in for the process that runs helm."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from provisioner.framework.turn import Turn
from provisioner.helm.client import ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import Revision, Wanted
from provisioner.kubernetes.cluster import Cluster, ClusterNotFoundError, Containers
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import CELL_END, ROW_END, Run

CHART = "hyperpod-helm-chart"
CHART_VERSION = "0.1.0"


class FakeCluster(Cluster):
    """A cluster without namespaces and definitions of the chart; helm knows about releases."""

    def __init__(self) -> None:
        """Nothing is reached; nobody consents to anything."""
        arn = "arn:aws:eks:us-west-2:111122223333:cluster/ml"
        super().__init__(server={}, token=lambda: "", arn=arn, tags={})

    def containers(self, *, timeout_seconds: float) -> Containers:
        assert timeout_seconds >= 1
        return Containers(definitions=frozenset(), terminating=frozenset())

    def has_release(self, name: str, *, namespace: str, timeout_seconds: float) -> bool:
        assert timeout_seconds >= 1
        return bool(name and namespace)


@dataclass
class FakeHelm:
    """Keeps one release; `failures` are raised by the named command, first come first served.

    So are the errors in `unready`, when a command is to be connected.
    """

    now: Callable[[], float]
    revisions: list[Revision] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    revision_labels: dict[int, dict[str, str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    failures: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    timeouts: list[float] = field(default_factory=list)
    while_upgrading: Callable[[float], None] = lambda _timeout: None
    cluster_exists: bool = True
    unready: list[Exception] = field(default_factory=list)
    charts_fetched: list[str] = field(default_factory=list)
    manifests: dict[int, str] = field(default_factory=dict)
    kubectl: Run = field(default_factory=lambda: _no_kubectl)

    @contextmanager
    def connect(
        self, properties: HelmReleaseProperties, wanted: Wanted, turn: Turn
    ) -> Iterator[ReleaseClient]:
        if not self.cluster_exists:
            raise ClusterNotFoundError("There is no EKS cluster", next_step="Stop.")
        if self.unready:
            raise self.unready.pop(0)

        def fetch() -> Path:
            self.charts_fetched.append(f"{properties.chart_bucket}/{properties.chart_key}")
            return Path(properties.chart_key)

        with tempfile.TemporaryDirectory() as home:
            yield ReleaseClient(
                properties=properties,
                wanted=wanted,
                turn=turn,
                cluster=FakeCluster(),
                run_helm=self.run,
                run_kubectl=self.kubectl,
                home=Path(home),
                fetch_chart=fetch,
            )

    def run(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Do what helm would; the arguments are those of its command line."""
        options = dict(pairwise(arguments))
        match arguments[0], arguments[1]:
            case "get", "metadata":
                return self._metadata(timeout_seconds)
            case "history", _:
                return json.dumps([_entry(revision) for revision in self.revisions])
            case "get", "manifest":
                return self.manifests.get(int(options["--revision"]), "")
            case "template", _:
                return ""
            case "upgrade", _:
                labels = dict(pair.split("=") for pair in options["--labels"].split(","))
                self.values = json.loads(Path(options["--values"]).read_text("utf-8"))
                self.upgrade(labels, options["--description"], timeout_seconds)
            case "rollback", _:
                self._roll_back(int(arguments[2]), timeout_seconds)
            case "uninstall", _:
                self._record("uninstall", timeout_seconds)
                self.revisions, self.labels = [], {}
            case _:
                raise AssertionError(arguments)
        return ""

    def put(
        self, status: str, labels: Mapping[str, str], *, description: str = "", age: float = 0.0
    ) -> None:
        """Add a revision as helm would have stored it."""
        number = len(self.revisions) + 1
        self.revisions.append(
            Revision(
                number=number,
                status=status,
                chart=f"{CHART}-{CHART_VERSION}",
                description=description,
                updated=self.now() - age,
            )
        )
        self.labels |= dict(labels)
        self.revision_labels[number] = dict(self.labels)

    def set_status(self, status: str, description: str = "") -> None:
        self.revisions[-1] = self.revisions[-1]._replace(status=status, description=description)

    @property
    def mutations(self) -> list[str]:
        return [call for call in self.calls if call != "read"]

    def upgrade(self, labels: Mapping[str, str], description: str, timeout_seconds: float) -> None:
        if self.revisions and self.revisions[-1].status not in {"deployed", "failed"}:
            raise CommandFailedError("Error: another operation (install/upgrade) is in progress")
        self.while_upgrading(timeout_seconds)
        try:
            self._record("upgrade", timeout_seconds)
        except CommandFailedError as error:
            self.put("failed", labels, description=str(error))
            raise
        self._supersede()
        self.put("deployed", labels, description=description)

    def _metadata(self, timeout_seconds: float) -> str:
        self._record("read", timeout_seconds)
        if not self.revisions:
            raise CommandFailedError("Error: release: not found")
        last = self.revisions[-1]
        chart = {"chart": CHART, "version": CHART_VERSION, "labels": self.labels}
        deployed = {"deployedAt": _time(last.updated), "status": last.status}
        return json.dumps({**chart, **deployed, "revision": last.number})

    def _roll_back(self, revision: int, timeout_seconds: float) -> None:
        self._record(f"rollback {revision}", timeout_seconds)
        self._supersede()
        self.labels = dict(self.revision_labels[revision])
        self.put("deployed", {}, description=f"Rollback to {revision}")

    def _supersede(self) -> None:
        self.revisions = [
            revision._replace(status="superseded") if revision.status == "deployed" else revision
            for revision in self.revisions
        ]

    def _record(self, call: str, timeout_seconds: float) -> None:
        self.calls.append(call)
        self.timeouts.append(timeout_seconds)
        pending = self.failures.get(call, [])
        if pending:
            raise CommandFailedError(pending.pop(0))


def _entry(revision: Revision) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "updated": _time(revision.updated),
        "status": revision.status,
        "chart": revision.chart,
        "description": revision.description,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()


@dataclass
class FakeKubectl:
    """kubectl in a cluster that lists the given rows, by the kinds that are asked for."""

    rows: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    annotated: list[str] = field(default_factory=list)

    def __call__(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Do what kubectl would; the arguments are those of its command line."""
        assert timeout_seconds >= 1
        options = dict(pairwise(arguments))
        match arguments[0], arguments[1]:
            case "annotate", "--local":
                text = Path(options["--filename"]).read_text("utf-8")
                return "".join(json.dumps(item) for item in yaml.safe_load_all(text) if item)
            case "annotate", _:
                self.annotated.append(arguments[-1])
                return ""
            case "get", kinds:
                listed = self.rows.get(kinds, [])
                return "".join(f"{CELL_END.join(row)}{ROW_END}" for row in listed)
            case _:
                raise AssertionError(arguments)


def _no_kubectl(arguments: Sequence[str], *, timeout_seconds: float) -> str:
    raise AssertionError(f"nothing to do for kubectl in {timeout_seconds} s: {arguments}")

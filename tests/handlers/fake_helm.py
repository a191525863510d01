"""helm and its release storage, in memory."""

# Signatures are those of the protocols.
# ruff: noqa: ARG002

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provisioner.framework.retry import Clock
from provisioner.helm.session import HelmSession
from provisioner.helm.state import Release, Revision
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubeconfig import ClusterNotFoundError
from provisioner.kubernetes.manifest import Manifest
from tests.handlers.fake_kubectl import FakeKubectl, FakeListing

CHART = "hyperpod-helm-chart-0.1.0"


@dataclass
class FakeHelm:
    """Keeps one release; `failures` are raised by the named command, first come first served."""

    now: Callable[[], float]
    revisions: list[Revision] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    revision_labels: dict[int, dict[str, str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    failures: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    timeouts: list[float] = field(default_factory=list)
    cluster_exists: bool = True
    charts_fetched: list[str] = field(default_factory=list)
    kubectl: FakeKubectl = field(default_factory=FakeKubectl)

    @contextmanager
    def open(self, cluster_name: str, namespace: str, clock: Clock) -> Iterator[HelmSession]:
        if not self.cluster_exists:
            raise ClusterNotFoundError(f"There is no EKS cluster {cluster_name}", next_step="Stop.")
        yield HelmSession(
            helm=self,
            kubectl=self.kubectl,
            listing=FakeListing(),
            fetch_chart=self._fetch,
        )

    def _fetch(self, bucket: str, key: str) -> Path:
        self.charts_fetched.append(f"{bucket}/{key}")
        return Path(key)

    def put(
        self, status: str, labels: Mapping[str, str], *, description: str = "", age: float = 0.0
    ) -> None:
        """Add a revision as helm would have stored it."""
        number = len(self.revisions) + 1
        self.revisions.append(
            Revision(
                number=number,
                status=status,
                chart=CHART,
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

    def release(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None:
        self._record("read", timeout_seconds)
        if not self.revisions:
            return None
        return Release(
            name=name,
            namespace=namespace,
            labels=dict(self.labels),
            revisions=tuple(self.revisions),
        )

    def current(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None:
        return self.release(name, namespace=namespace, timeout_seconds=timeout_seconds)

    def render(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        timeout_seconds: float,
    ) -> Manifest:
        return Manifest(crds="", templates="")

    def manifest(self, name: str, revision: int, *, namespace: str, timeout_seconds: float) -> str:
        return ""

    def upgrade(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        labels: Mapping[str, str],
        description: str,
        take_ownership: bool,
        timeout_seconds: float,
    ) -> None:
        if self.revisions and self.revisions[-1].status not in {"deployed", "failed"}:
            raise CommandFailedError("Error: another operation (install/upgrade) is in progress")
        self.values = dict(values)
        try:
            self._record("upgrade", timeout_seconds)
        except CommandFailedError as error:
            self.put("failed", labels, description=str(error))
            raise
        self._supersede()
        self.put("deployed", labels, description=description)

    def roll_back(
        self,
        name: str,
        revision: int,
        *,
        namespace: str,
        timeout_seconds: float,
    ) -> None:
        self._record(f"rollback {revision}", timeout_seconds)
        self._supersede()
        self.labels = dict(self.revision_labels[revision])
        self.put("deployed", {}, description=f"Rollback to {revision}")

    def uninstall(self, name: str, *, namespace: str, timeout_seconds: float) -> None:
        self._record("uninstall", timeout_seconds)
        self.revisions, self.labels = [], {}

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

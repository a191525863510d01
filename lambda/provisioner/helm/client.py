"""helm and kubectl, bound to one release and to the function's remaining time.

`--wait` is never passed: a release is installed before the cluster has nodes, so its pods stay
Pending until HyperPod's nodes join. `--rollback-on-failure` would wait as well. Objects are written
by server-side apply with `--force-conflicts`: a field that a user set by hand is set back, where
helm's default would refuse this upgrade and every later one, rollbacks included.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from hyperpod_shared.aws_errors import AwsClient
from hyperpod_shared.errors import ProvisioningError, UnreachableError
from hyperpod_shared.owner import is_consent
from hyperpod_shared.redaction import redacted, secret_values
from provisioner.aws.s3 import Bucket
from provisioner.framework.retry import retried
from provisioner.framework.turn import Turn
from provisioner.helm.chart import fetch_chart
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import Release, Revision, Wanted
from provisioner.kubernetes.cluster import Cluster, Containers, EksConnection
from provisioner.kubernetes.failures import CHECK_ACCESS, CommandFailedError
from provisioner.kubernetes.kubectl import STOP_GRACE_SECONDS, Kubectl, Run
from provisioner.kubernetes.manifest import Manifest, Object, split_manifest

REACH_PATIENCE_SECONDS = 90.0
"""How long a new API endpoint or access entry may take to work."""
TERMINATING_PATIENCE_SECONDS = 120.0
"""How long an object of a former release may take to be deleted."""
READ_SECONDS = 60.0
"""How long one command may take that changes nothing."""
SHORTEST_SECONDS = 1.0
"""How long a command may take when no time is left."""
_HELM_ENDS_EARLIER_SECONDS = 5.0
_RESERVE_SECONDS = STOP_GRACE_SECONDS + 10.0  # to stop helm and still answer

_BUILT_IN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_APPLY = ("--server-side=true", "--force-conflicts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseClient:
    """The commands for one release.

    Each raises CommandFailedError where helm or the API refuses or time runs out, but reading
    the release raises UnreachableError or ProvisioningError.

    It is bound to what is asked for, as properties and, comparable with what helm stores, as
    `wanted`; `home` is a folder for the files that helm and kubectl read.
    """

    properties: HelmReleaseProperties
    wanted: Wanted
    turn: Turn
    cluster: Cluster
    run_helm: Run
    run_kubectl: Run
    home: Path
    fetch_chart: Callable[[], Path]

    @property
    def kubectl(self) -> Kubectl:
        """Kubectl, within the time that is left."""
        return Kubectl(run=self.run_kubectl, home=self.home, timeout_seconds=self._read_seconds)

    @property
    def may_delete_user_objects_with_stack(self) -> bool:
        """Whether the user consented to losing it when the stack is deleted, then alone."""
        consents = self.properties.delete_user_objects
        return consents or is_consent(self.cluster.tags, self.wanted.owner)

    @property
    def time_left(self) -> float:
        """Seconds that commands may still take."""
        return self.turn.clock.remaining() - _RESERVE_SECONDS

    def read(self) -> Release | None:
        """Return the release; wait for an API that is not reachable or does not accept us yet."""
        return self._read(self._release)

    def read_last_revision(self) -> Release | None:
        """Return the release with its last revision only, without that revision's description.

        Half the work of `read`.
        """
        return self._read(self._last_revision)

    def containers(self) -> Containers:
        """Return the namespaces and definitions of the cluster."""
        return self.cluster.containers(timeout_seconds=self._read_seconds())

    def render(self, chart: Path) -> Manifest:
        """Return what the chart renders with the wanted values, without a call of the API."""
        arguments = ["template", self.properties.release, str(chart), "--include-crds"]
        return split_manifest(self._helm([*arguments, "--values", str(self._values_file())]))

    def manifest(self, revision: int) -> str:
        """Return what a revision wrote, as YAML."""
        return self._helm(["get", "manifest", self.properties.release, "--revision", str(revision)])

    def upgrade(self, chart: Path, *, take_ownership: bool, keep_seconds: float) -> None:
        """Install or upgrade; return when the API has accepted every object.

        With `take_ownership`, helm takes over objects that the release does not own. `keep_seconds`
        is time to keep for what follows a failure.
        """
        arguments = ["upgrade", self.properties.release, str(chart), "--install", *_APPLY]
        if self.properties.namespace not in _BUILT_IN_NAMESPACES:
            arguments.append("--create-namespace")
        if take_ownership:
            arguments.append("--take-ownership")
        labels = ",".join(f"{key}={value}" for key, value in sorted(self.wanted.labels.items()))
        self._change(
            [
                *arguments,
                *("--values", str(self._values_file())),
                *("--labels", labels),
                *("--description", self.wanted.description),
                "--hide-notes",
            ],
            keep_seconds=keep_seconds,
        )

    def roll_back(self, revision: int) -> None:
        """Make an earlier revision the current one again."""
        self._change(["rollback", self.properties.release, str(revision), *_APPLY])

    def uninstall(self) -> None:
        """Delete the release and its objects; one that is gone already is a success."""
        try:
            # Without --debug, helm does not say why an object could not be deleted.
            self._change(["uninstall", self.properties.release, "--debug"])
        except CommandFailedError as error:
            # helm's own --ignore-not-found treats every error in reading as "not found".
            if not error.is_release_not_found:
                raise

    def forget(self) -> None:
        """Delete what helm stores of the release, whose objects went with their definitions.

        helm cannot uninstall an object of a kind that is not there.
        """
        self.turn.require()
        self.kubectl.delete("secrets", selector=f"owner=helm,name={self.properties.release}")

    def failure(
        self, what: str, error: CommandFailedError, *, reading: bool = False, serving: str = ""
    ) -> ProvisioningError:
        """Word a failure: what failed (`helm could not read`), what was said last, what to do.

        A read that takes too long got no answer. `serving` says as a sentence what the cluster runs
        now.
        """
        unreachable = error.is_unanswered if reading else error.is_transient
        kind = UnreachableError if unreachable else ProvisioningError
        step = CHECK_ACCESS if unreachable else error.next_step
        return kind(
            f"{what} the release {self.properties.physical_id}",
            detail=str(error),
            next_step=f"{serving} {step}".strip(),
            secrets=secret_values(self.properties.values),
        )

    def _release(self) -> Release | None:
        (name, namespace), seconds = self.properties.release_id, self._read_seconds()
        if not self.cluster.has_release(name, namespace=namespace, timeout_seconds=seconds):
            return None
        metadata = self._stored("get", "metadata")
        history = self._stored("history")
        if metadata is None or history is None:
            return None
        revisions = (
            Revision(
                number=entry["revision"],
                status=entry["status"],
                chart=entry["chart"],
                description=entry["description"],
                updated=datetime.fromisoformat(entry["updated"]).timestamp(),
            )
            for entry in sorted(history, key=itemgetter("revision"))
        )
        return self._release_of(metadata, revisions)

    def _release_of(self, metadata: Object, revisions: Iterable[Revision]) -> Release:
        (name, namespace), labels = self.properties.release_id, metadata.get("labels") or {}
        return Release(name=name, namespace=namespace, labels=labels, revisions=tuple(revisions))

    def _last_revision(self) -> Release | None:
        metadata = self._stored("get", "metadata")
        if metadata is None:
            return None
        last = Revision(
            number=metadata["revision"],
            status=metadata["status"],
            chart=f"{metadata['chart']}-{metadata['version']}",
            description="",
            updated=datetime.fromisoformat(metadata["deployedAt"]).timestamp(),
        )
        return self._release_of(metadata, [last])

    def _stored(self, *command: str) -> Any:  # noqa: ANN401 - helm's JSON
        """Return what helm stores of the release; None when there is no release."""
        try:
            return json.loads(self._helm([*command, self.properties.release, "--output", "json"]))
        except CommandFailedError as error:
            if error.is_release_not_found:
                return None
            raise

    def _read(self, command: Callable[[], Release | None]) -> Release | None:
        try:
            return retried(
                command,
                errors=(CommandFailedError,),
                patience=lambda error: REACH_PATIENCE_SECONDS if error.is_unanswered else 0.0,
                clock=self.turn.clock,
                reserve_seconds=_RESERVE_SECONDS,
            )
        except CommandFailedError as error:
            raise self.failure("helm could not read", error, reading=True) from error

    def _change(self, arguments: Sequence[str], *, keep_seconds: float = 0.0) -> None:
        def attempt() -> None:
            self.turn.require()
            seconds = max(self.time_left - keep_seconds, SHORTEST_SECONDS)
            # helm's own timeout ends first, so that it says which hook did not finish.
            own = max(seconds - _HELM_ENDS_EARLIER_SECONDS, SHORTEST_SECONDS)
            self._helm([*arguments, "--timeout", f"{int(own)}s"], timeout_seconds=seconds)

        retried(
            attempt,
            errors=(CommandFailedError,),
            patience=lambda error: TERMINATING_PATIENCE_SECONDS if error.is_terminating else 0.0,
            clock=self.turn.clock,
            reserve_seconds=_RESERVE_SECONDS + keep_seconds,
        )

    def _helm(self, arguments: Sequence[str], *, timeout_seconds: float | None = None) -> str:
        try:
            return self.run_helm(
                [*arguments, "--namespace", self.properties.namespace],
                timeout_seconds=timeout_seconds or self._read_seconds(),
            )
        except CommandFailedError as error:
            secrets = secret_values(self.properties.values)  # helm quotes values in its errors
            raise type(error)(redacted(str(error), secrets=secrets)) from None

    def _read_seconds(self) -> float:
        return max(min(READ_SECONDS, self.time_left), SHORTEST_SECONDS)

    def _values_file(self) -> Path:
        path = self.home / "values.json"
        path.write_text(self.properties.values_yaml, encoding="ascii")
        return path


Connect = Callable[[HelmReleaseProperties, Wanted, Turn], AbstractContextManager[ReleaseClient]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseConnection:
    """Connects to EKS; charts come from S3."""

    connection: EksConnection
    s3: AwsClient

    @contextmanager
    def connect(
        self, properties: HelmReleaseProperties, wanted: Wanted, turn: Turn
    ) -> Iterator[ReleaseClient]:
        """Yield the commands for one release; everything they write is removed with the context.

        Raises:
            ClusterNotFoundError: There is no such EKS cluster.
            ProvisioningError: The cluster cannot be reached, or a binary is missing.
        """
        described = self.connection.describe(properties.cluster_name, turn.clock)
        with self.connection.connect(described, namespace=properties.namespace) as commands:
            yield ReleaseClient(
                properties=properties,
                wanted=wanted,
                turn=turn,
                cluster=commands.cluster,
                run_helm=commands.helm,
                run_kubectl=commands.run_kubectl,
                home=commands.home,
                fetch_chart=lambda: fetch_chart(
                    Bucket(s3=self.s3, name=properties.chart_bucket, account=wanted.owner.account),
                    key=properties.chart_key,
                    digest=properties.chart_digest,
                    folder=commands.home,
                    clock=turn.clock,
                ),
            )

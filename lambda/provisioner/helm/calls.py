"""The commands of helm and kubectl, bound to one release and to the function's remaining time."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from provisioner.framework.errors import ProvisioningError, UnreachableError
from provisioner.framework.redaction import secret_values
from provisioner.framework.retry import Clock, retried
from provisioner.helm.advice import CHECK_ACCESS, advice
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.session import HelmSession, KubectlCommands
from provisioner.helm.state import Release, Wanted
from provisioner.kubernetes.failures import CommandFailedError, CommandTimeoutError
from provisioner.kubernetes.manifest import Manifest
from provisioner.kubernetes.process import STOP_GRACE_SECONDS

T = TypeVar("T")

REACH_PATIENCE_SECONDS = 90.0
"""How long a new API endpoint or access entry may take to work."""
TERMINATING_PATIENCE_SECONDS = 120.0
"""How long an object of a former release may take to go."""
READ_SECONDS = 60.0
"""How long one command may take that changes nothing."""
_RESERVE_SECONDS = STOP_GRACE_SECONDS + 10.0  # to stop helm and still answer


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReleaseCalls:
    """One release in an open session.

    Args:
        session: helm and kubectl for the release's cluster.
        properties: What is asked for.
        wanted: The same, comparable with what helm knows.
        clock: Time and sleep.
    """

    session: HelmSession
    properties: HelmReleaseProperties
    wanted: Wanted
    clock: Clock

    @property
    def kubectl(self) -> KubectlCommands:
        """Kubectl for the release's cluster."""
        return self.session.kubectl

    @property
    def time_left(self) -> float:
        """Seconds that a command may still take."""
        return self.clock.remaining() - _RESERVE_SECONDS

    @property
    def read_seconds(self) -> float:
        """Seconds that a command may take that changes nothing."""
        return min(READ_SECONDS, self.time_left)

    def read(self) -> Release | None:
        """Return the release, waiting for an API that is not reachable or does not know us yet.

        Raises:
            UnreachableError: The API could not be reached in time.
            ProvisioningError: helm could not tell.
        """
        return self._read(self.session.helm.release)

    def current(self) -> Release | None:
        """Return the release with its last revision alone, and that without its description.

        Raises:
            UnreachableError: The API could not be reached in time.
            ProvisioningError: helm could not tell.
        """
        return self._read(self.session.helm.current)

    def fetch_chart(self) -> Path:
        """Return the local path of the chart.

        Raises:
            ProvisioningError: There is no such asset, or it is no chart.
        """
        return self.session.fetch_chart(self.properties.chart_bucket, self.properties.chart_key)

    def render(self, chart: Path) -> Manifest:
        """Return what the chart renders with the wanted values.

        Raises:
            CommandFailedError: It does not render.
        """
        return self.session.helm.render(
            self.properties.release,
            namespace=self.properties.namespace,
            chart=chart,
            values=self.properties.values,
            timeout_seconds=self.read_seconds,
        )

    def manifest(self, revision: int) -> str:
        """Return what a revision wrote.

        Raises:
            CommandFailedError: helm could not tell.
        """
        return self.session.helm.manifest(
            self.properties.release,
            revision,
            namespace=self.properties.namespace,
            timeout_seconds=self.read_seconds,
        )

    def upgrade(self, chart: Path, *, take_ownership: bool, keep_seconds: float) -> None:
        """Install or upgrade, keeping back some time for what follows a failure.

        Raises:
            CommandFailedError: helm or the API refused, or time ran out.
        """
        self._patient(
            lambda: self.session.helm.upgrade(
                self.properties.release,
                namespace=self.properties.namespace,
                chart=chart,
                values=self.properties.values,
                labels=self.wanted.labels,
                description=self.wanted.description,
                take_ownership=take_ownership,
                timeout_seconds=self.time_left - keep_seconds,
            )
        )

    def roll_back(self, revision: int) -> None:
        """Make an earlier revision the current one again.

        Raises:
            CommandFailedError: helm or the API refused, or time ran out.
        """
        self._patient(
            lambda: self.session.helm.roll_back(
                self.properties.release,
                revision,
                namespace=self.properties.namespace,
                timeout_seconds=self.time_left,
            )
        )

    def uninstall(self) -> None:
        """Remove the release.

        Raises:
            CommandFailedError: helm or the API refused, or time ran out.
        """
        self._patient(
            lambda: self.session.helm.uninstall(
                self.properties.release,
                namespace=self.properties.namespace,
                timeout_seconds=self.time_left,
            )
        )

    def failure(
        self, what: str, error: CommandFailedError, *, reading: bool = False, meanwhile: str = ""
    ) -> ProvisioningError:
        """Word a failure: what failed, what was said last, what to do.

        Args:
            what: Such as ``helm could not read``.
            error: What was said.
            reading: Whether it only read: that takes long for no other reason than that nobody
                answered.
            meanwhile: What the cluster runs now, as a sentence.
        """
        unreachable = _is_unreachable(error) if reading else error.is_transient
        kind = UnreachableError if unreachable else ProvisioningError
        step = CHECK_ACCESS if unreachable else advice(error)
        return kind(
            f"{what} the release {self.properties.physical_id}",
            detail=str(error),
            next_step=f"{meanwhile} {step}".strip(),
            secrets=secret_values(self.properties.values),
        )

    def _read(self, command: Callable[..., Release | None]) -> Release | None:
        try:
            return self._retried(
                lambda: command(
                    self.properties.release,
                    namespace=self.properties.namespace,
                    timeout_seconds=self.read_seconds,
                ),
                lambda error: REACH_PATIENCE_SECONDS if _is_unreachable(error) else 0.0,
            )
        except CommandFailedError as error:
            raise self.failure("helm could not read", error, reading=True) from error

    def _patient(self, step: Callable[[], None]) -> None:
        self._retried(
            step, lambda error: TERMINATING_PATIENCE_SECONDS if error.is_terminating else 0.0
        )

    def _retried(self, call: Callable[[], T], patience: Callable[[CommandFailedError], float]) -> T:
        return retried(
            call,
            errors=(CommandFailedError,),
            patience=lambda error: (
                patience(error) if isinstance(error, CommandFailedError) else 0.0
            ),
            clock=self.clock,
            reserve_seconds=_RESERVE_SECONDS,
        )


def _is_unreachable(error: CommandFailedError) -> bool:
    """Say whether a read failed because nobody answered."""
    return error.is_transient or isinstance(error, CommandTimeoutError)

"""Steps that bring one Helm release to what a request wants."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from provisioner import log
from provisioner.errors import ProvisioningError, UnreachableError
from provisioner.helm_process import STOP_GRACE_SECONDS, HelmFailedError, HelmTimeoutError
from provisioner.helm_release_properties import HelmReleaseProperties
from provisioner.helm_release_state import Action, Decision, Release, Wanted, decide
from provisioner.helm_session import HelmSession
from provisioner.redaction import secret_values
from provisioner.retry import Clock, retried

T = TypeVar("T")

REACH_PATIENCE_SECONDS = 90.0
"""How long a new API endpoint or access entry may take to work."""
TERMINATING_PATIENCE_SECONDS = 120.0
"""How long a namespace or object of a former release may take to go."""
_READ_SECONDS = 60.0
_RESERVE_SECONDS = STOP_GRACE_SECONDS + 10.0  # to stop helm and still answer
_MOST_STEPS = 4
_DEPLOY_AGAIN = "Mend the cause and deploy again: the release is recovered by itself."
_CHECK_ACCESS = (
    "Check that the cluster's endpoint is open to the function and that its role has an access "
    "entry, then deploy again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReleaseSteps:
    """One release in an open session.

    Args:
        session: helm for the release's cluster.
        properties: What is asked for.
        wanted: The same, comparable with what helm knows.
        clock: Time and sleep.
    """

    session: HelmSession
    properties: HelmReleaseProperties
    wanted: Wanted
    clock: Clock

    def read(self) -> Release | None:
        """Return the release, waiting for an API that is not reachable or does not know us yet.

        Raises:
            ProvisioningError: helm could not tell.
        """
        try:
            return self._retried(
                lambda: self.session.helm.release(
                    self.properties.release,
                    namespace=self.properties.namespace,
                    timeout_seconds=min(_READ_SECONDS, self._time_left()),
                ),
                lambda error: REACH_PATIENCE_SECONDS if _is_unreachable(error) else 0.0,
            )
        except HelmFailedError as error:
            raise self._failure(
                "helm could not read", error, unreachable=_is_unreachable(error)
            ) from error

    def converge(self) -> str | None:
        """Take steps until the release is as wanted; return the text of a failure of helm's.

        Raises:
            ProvisioningError: Nothing was changed: not reachable, not ours, or no such chart.
        """
        chart: Path | None = None
        for _ in range(_MOST_STEPS):
            decision = decide(self.read(), self.wanted)
            log.info("helm step", action=decision.action.value, release=self.properties.physical_id)
            if decision.action in {Action.NOTHING, Action.WAIT}:
                return None
            chart = chart or self.session.fetch_chart(
                self.properties.chart_bucket, self.properties.chart_key
            )
            try:
                self._take(decision, chart)
            except HelmFailedError as error:
                return str(self._failure(f"helm could not {decision.action.value}", error))
            if decision.action is Action.UPGRADE:
                return None
        return str(
            ProvisioningError(
                f"The Helm release {self.properties.physical_id} did not leave its state in "
                f"{_MOST_STEPS} steps",
                next_step="Look at it with helm history, uninstall it by hand and deploy again.",
            )
        )

    def uninstall(self) -> None:
        """Remove the release.

        Raises:
            ProvisioningError: helm or the API refused.
        """
        try:
            self._uninstall()
        except HelmFailedError as error:
            raise self._failure("helm could not uninstall", error) from error

    def unfinished(self, release: Release) -> ProvisioningError:
        """Return the failure that helm recorded with a release."""
        return ProvisioningError(
            f"The Helm release {self.properties.physical_id} is {release.last.status} at revision "
            f"{release.last.number}, not deployed with the wanted content",
            detail=release.last.description,
            next_step=_DEPLOY_AGAIN,
            secrets=secret_values(self.properties.values),
        )

    def _take(self, decision: Decision, chart: Path) -> None:
        def step() -> None:
            if decision.action is Action.UNINSTALL:
                self._uninstall()
            elif decision.action is Action.ROLL_BACK:
                self.session.helm.roll_back(
                    self.properties.release,
                    decision.revision,
                    namespace=self.properties.namespace,
                    timeout_seconds=self._time_left(),
                )
            else:
                self.session.helm.upgrade(
                    self.properties.release,
                    namespace=self.properties.namespace,
                    chart=chart,
                    values=self.properties.values,
                    labels=self.wanted.labels,
                    description=self.wanted.description,
                    timeout_seconds=self._time_left(),
                )

        self._retried(
            step, lambda error: TERMINATING_PATIENCE_SECONDS if error.is_terminating else 0.0
        )

    def _uninstall(self) -> None:
        self.session.helm.uninstall(
            self.properties.release,
            namespace=self.properties.namespace,
            timeout_seconds=self._time_left(),
        )

    def _time_left(self) -> float:
        return self.clock.remaining() - _RESERVE_SECONDS

    def _retried(self, call: Callable[[], T], patience: Callable[[HelmFailedError], float]) -> T:
        return retried(
            call,
            errors=(HelmFailedError,),
            patience=lambda error: patience(error) if isinstance(error, HelmFailedError) else 0.0,
            clock=self.clock,
            reserve_seconds=_RESERVE_SECONDS,
        )

    def _failure(
        self, what: str, error: HelmFailedError, *, unreachable: bool | None = None
    ) -> ProvisioningError:
        if unreachable is None:
            unreachable = error.is_transient
        kind = UnreachableError if unreachable else ProvisioningError
        return kind(
            f"{what} the release {self.properties.physical_id}",
            detail=str(error),
            next_step=_CHECK_ACCESS if unreachable else _DEPLOY_AGAIN,
            secrets=secret_values(self.properties.values),
        )


def _is_unreachable(error: HelmFailedError) -> bool:
    """Say whether a read failed because nobody answered: a read takes long for no other reason."""
    return error.is_transient or isinstance(error, HelmTimeoutError)

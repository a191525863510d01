"""Steps that bring one Helm release to what a request wants."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.framework.redaction import secret_values
from provisioner.helm.advice import DEPLOY_AGAIN
from provisioner.helm.calls import HelmReleaseCalls
from provisioner.helm.losses import differing, guard
from provisioner.helm.preparation import StillDeletedError
from provisioner.helm.state import Action, Decision, Release, decide, is_abandoned
from provisioner.helm.upgrade import roll_back, undo, upgrade
from provisioner.kubernetes.failures import CommandFailedError, CommandTimeoutError
from provisioner.kubernetes.manifest import lost

_MOST_STEPS = 6
TRANSIENT_DELAY_SECONDS = 5.0


class Outcome(NamedTuple):
    """How far the steps came.

    Args:
        failure: Why the release is not as wanted; None when it is, or a copy works on it.
        deferred: Something is still being deleted; the same steps are to be taken later.
    """

    failure: str | None = None
    deferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReleaseSteps:
    """Brings one release to where it is wanted.

    Args:
        calls: The release.
    """

    calls: HelmReleaseCalls

    def converge(self) -> Outcome:
        """Take steps until the release is as wanted.

        What fails once the first step is taken is part of the outcome, not raised.

        Raises:
            ProvisioningError: Nothing was changed: not reachable, not ours, or no such chart.
        """
        release = self.calls.read()
        claimed = is_abandoned(release, self.calls.wanted)
        decision = decide(release, self.calls.wanted, claimed=claimed)
        chart: Path | None = None
        for _ in range(_MOST_STEPS):
            if decision.action in {Action.NOTHING, Action.WAIT}:
                return Outcome()
            chart = chart or self.calls.fetch_chart()
            try:
                outcome = self._attempt(decision, release, chart)
                if outcome is not None:
                    return outcome
                release = self.calls.read()
                decision = decide(release, self.calls.wanted, claimed=claimed)
            except ProvisioningError as error:
                return Outcome(failure=str(error))
        stuck = ProvisioningError(
            f"The Helm release {self.calls.properties.physical_id} did not leave its state in "
            f"{_MOST_STEPS} steps",
            next_step="Look at it with helm history, uninstall it by hand and deploy again.",
        )
        return Outcome(failure=str(stuck))

    def uninstall(self, release: Release) -> None:
        """Remove the release, unless users would lose something.

        Raises:
            ProvisioningError: It was refused, by us and then nothing was deleted, or by helm.
        """
        try:
            self._uninstall(release)
        except CommandFailedError as error:
            raise self.calls.failure("helm could not uninstall", error) from error

    def unfinished(self, release: Release) -> ProvisioningError:
        """Return the failure that helm recorded with a release."""
        return ProvisioningError(
            f"The Helm release {self.calls.properties.physical_id} is {release.last.status} at "
            f"revision {release.last.number}, not deployed with the wanted content",
            detail=release.last.description,
            next_step=DEPLOY_AGAIN,
            secrets=secret_values(self.calls.properties.values),
        )

    def _attempt(self, decision: Decision, release: Release | None, chart: Path) -> Outcome | None:
        """Take a step and return how it ended; None when another one is to follow.

        Raises:
            ProvisioningError: It was refused.
        """
        log.info(
            "helm step", action=decision.action.value, release=self.calls.properties.physical_id
        )
        try:
            self._take(decision, release, chart)
        except StillDeletedError as error:
            log.info("still being deleted", cause=str(error))
            return Outcome(deferred=True)
        except CommandFailedError as error:
            if self._passes(error):
                return None
            return Outcome(failure=self._failed(decision, release, error))
        return Outcome() if decision.action is Action.UPGRADE else None

    def _take(self, decision: Decision, release: Release | None, chart: Path) -> None:
        if release is None or decision.action is Action.UPGRADE:
            upgrade(self.calls, release, chart)
        elif decision.action is Action.UNINSTALL:
            self._uninstall(release)
        else:
            roll_back(self.calls, release, decision.revision)

    def _uninstall(self, release: Release) -> None:
        before = self.calls.manifest(release.last.number)
        guard(self.calls, lost(*differing(self.calls, before, "")), doing="Uninstalling")
        self.calls.uninstall()

    def _passes(self, error: CommandFailedError) -> bool:
        """Wait a little if another attempt may succeed: with a new token, on a calmer API."""
        passing = error.may_pass and not isinstance(error, CommandTimeoutError)
        if not passing or self.calls.time_left < TRANSIENT_DELAY_SECONDS:
            return False
        log.info("another attempt", cause=str(error))
        self.calls.clock.sleep(TRANSIENT_DELAY_SECONDS)
        return True

    def _failed(
        self, decision: Decision, release: Release | None, error: CommandFailedError
    ) -> str:
        serves = undo(self.calls, release) if decision.action is Action.UPGRADE else ""
        what = f"helm could not {decision.action.value}"
        return str(self.calls.failure(what, error, meanwhile=serves))

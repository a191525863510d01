"""Executes the steps that `provisioner.helm.state` decides, one after another."""

from pathlib import Path
from typing import NamedTuple

from hyperpod_shared.errors import ProvisioningError, UnreachableError
from hyperpod_shared.owner import consent_command
from hyperpod_shared.redaction import secret_values
from provisioner.framework import log
from provisioner.helm.client import ReleaseClient
from provisioner.helm.preparation import (
    LaterError,
    lacks_definitions,
    prepare,
    refuse_unowned,
)
from provisioner.helm.state import (
    Decision,
    Release,
    ReleaseAction,
    decide,
    decide_deletion,
    is_abandoned,
)
from provisioner.helm.user_objects import changed_containers, keep_user_objects, refuse_loss
from provisioner.kubernetes.failures import DEPLOY_AGAIN, CommandFailedError, CommandTimeoutError
from provisioner.kubernetes.manifest import deleted_containers

ROLLBACK_SECONDS = 120.0
"""Kept for the rollback of a failed upgrade; half of the time if there is less than twice that."""
TRANSIENT_DELAY_SECONDS = 5.0
_MOST_STEPS = 6


class HelmStepResult(NamedTuple):
    """How far the steps came.

    Attributes:
        failure: Why the release is not as wanted; None when it is, or another run works on it.
        deferred: The same steps are to be taken later: something is still being deleted, another
            run works on the release, or the API does not answer. A failure says what.
    """

    failure: str | None = None
    deferred: bool = False
    absent: bool = False


def converge(client: ReleaseClient) -> HelmStepResult:
    """Take steps until the release is as wanted.

    What fails once the first step is taken is part of the outcome, not raised.

    Raises:
        ProvisioningError: Nothing was changed: the API is not reachable, the release is not ours,
            or there is no such chart.
    """
    release = client.read()
    claimed = is_abandoned(release, client.wanted)
    decision = decide(release, client.wanted, claimed=claimed)
    chart: Path | None = None
    for _ in range(_MOST_STEPS):
        if decision.action in {ReleaseAction.NOTHING, ReleaseAction.WAIT}:
            return HelmStepResult(deferred=decision.action is ReleaseAction.WAIT)
        chart = chart or client.fetch_chart()
        try:
            outcome = _attempt(client, decision, release, chart)
            if outcome is not None:
                return outcome
            release = client.read()
            decision = decide(release, client.wanted, claimed=claimed)
        except ProvisioningError as error:
            is_late = isinstance(error, UnreachableError)
            return HelmStepResult(failure=str(error), deferred=is_late)
    stuck = ProvisioningError(
        f"The Helm release {client.properties.physical_id} did not reach the desired state in "
        f"{_MOST_STEPS} steps",
        detail=release.last.description if release is not None else "",
        secrets=secret_values(client.properties.values),
        next_step="Inspect it with helm history, uninstall it manually and deploy again.",
    )
    return HelmStepResult(failure=str(stuck), deferred=True)


def delete(client: ReleaseClient) -> HelmStepResult:
    """Uninstall the release if it is ours, unless users' objects would be deleted.

    Raises:
        ProvisioningError: It was refused and nothing was deleted, or helm failed.
    """
    release = client.read()
    decision = decide_deletion(release, client.wanted)
    if decision.action is ReleaseAction.WAIT:
        log.info("another run works on it", release=client.properties.physical_id)
        return HelmStepResult(deferred=True)
    if release is None or decision.action is ReleaseAction.NOTHING:
        log.info("no release of this resource", release=client.properties.physical_id)
        return HelmStepResult(absent=release is None)
    try:
        _uninstall(client, release)
    except CommandFailedError as error:
        failure = client.failure("helm could not uninstall", error)
        if error.is_in_progress or error.is_transient:
            return HelmStepResult(deferred=True, failure=str(failure))
        raise failure from error
    return HelmStepResult()


def unfinished(client: ReleaseClient, release: Release) -> ProvisioningError:
    """Return the failure that helm stored with a release."""
    return ProvisioningError(
        f"The Helm release {client.properties.physical_id} is {release.last.status} at revision "
        f"{release.last.number}, not deployed with the desired content",
        detail=release.last.description,
        next_step=DEPLOY_AGAIN,
        secrets=secret_values(client.properties.values),
    )


def _attempt(
    client: ReleaseClient, decision: Decision, release: Release | None, chart: Path
) -> HelmStepResult | None:
    """Take a step and return how it ended; None when another one is to follow."""
    log.info("helm step", action=decision.action.value, release=client.properties.physical_id)
    try:
        if release is None or decision.action is ReleaseAction.UPGRADE:
            _upgrade(client, release, chart)
            return HelmStepResult()
        if decision.action is ReleaseAction.UNINSTALL:
            _uninstall(client, release)
        else:
            _roll_back(client, release, decision.revision)
    except LaterError as error:
        log.info("still terminating, or not there yet", cause=str(error))
        return HelmStepResult(deferred=True, failure=str(error))
    except CommandFailedError as error:
        if _retry(client, error):
            return None
        serving = _restore(client, release) if decision.action is ReleaseAction.UPGRADE else ""
        what = f"helm could not {_verb(decision, release)}"
        failure = client.failure(what, error, serving=serving)
        # A run that goes back is worth another one, whatever the cause: else the stack is stuck.
        return HelmStepResult(
            failure=str(failure), deferred=error.is_transient or client.turn.rolls_back
        )
    return None


def _verb(decision: Decision, release: Release | None) -> str:
    is_first = release is None or not release.was_deployed
    installs = is_first and decision.action is ReleaseAction.UPGRADE
    return "install" if installs else decision.action.value


def _retry(client: ReleaseClient, error: CommandFailedError) -> bool:
    """Wait a little if another attempt may succeed: with a new token, on a less busy API."""
    if isinstance(error, CommandTimeoutError) or not error.is_worth_retrying:
        return False
    if client.time_left < TRANSIENT_DELAY_SECONDS:
        return False
    log.info("another attempt", cause=str(error))
    client.turn.clock.sleep(TRANSIENT_DELAY_SECONDS)
    return True


def _upgrade(client: ReleaseClient, release: Release | None, chart: Path) -> None:
    """Install or upgrade."""
    client.turn.require()
    prepare(client, release, chart)
    restorable = release is not None and release.serving is not None
    keep = min(ROLLBACK_SECONDS, client.time_left / 2) if restorable else 0.0
    try:
        client.upgrade(chart, take_ownership=False, keep_seconds=keep)
    except CommandFailedError as error:
        if not error.is_owned_by_others:
            raise
        refuse_unowned(client, chart)
        client.upgrade(chart, take_ownership=True, keep_seconds=keep)


def _restore(client: ReleaseClient, before: Release | None) -> str:
    """Roll a failed upgrade back to what served, and return what serves now as a sentence."""
    serving = before.serving if before is not None else None
    if before is None or serving is None:
        return ""
    try:
        after = client.read()
        if after is None or after.last.number == before.last.number:
            return f"Revision {serving.number} still serves."
        _roll_back(client, after, serving.number)
    except (CommandFailedError, ProvisioningError) as error:
        log.warning("no rollback", release=client.properties.physical_id, cause=str(error))
        return f"The rollback to revision {serving.number} failed too, parts of both may run."
    return f"Revision {serving.number} serves again."


def _roll_back(client: ReleaseClient, release: Release, revision: int) -> None:
    manifests = (client.manifest(number) for number in (release.last.number, revision))
    deleted = deleted_containers(*changed_containers(client.kubectl, *manifests))
    keep_user_objects(client, deleted, step="Rolling back")
    client.roll_back(revision)


def _uninstall(client: ReleaseClient, release: Release) -> None:
    if lacks_definitions(client):
        client.forget()
        return
    manifest = client.manifest(release.last.number)
    deleted = deleted_containers(*changed_containers(client.kubectl, manifest, ""))
    # Objects need not be listed then, which an API without nodes may refuse.
    if not client.may_delete_user_objects_with_stack:
        consent = consent_command(client.cluster.arn, client.wanted.owner)
        refuse_loss(client, deleted, step="Uninstalling", consent=consent)
    client.uninstall()

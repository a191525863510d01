"""One install or upgrade of a release, and the way back when it fails."""

from pathlib import Path

from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.helm.adoption import named_object, refuse_adoption, strangers
from provisioner.helm.calls import HelmReleaseCalls
from provisioner.helm.losses import differing, spare
from provisioner.helm.preparation import prepare
from provisioner.helm.state import Release
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.manifest import lost

ROLLBACK_SECONDS = 120.0
"""Kept back for rolling a failed upgrade back, where there is that much time at all."""


def upgrade(calls: HelmReleaseCalls, release: Release | None, chart: Path) -> None:
    """Install a release, or upgrade it.

    Args:
        calls: The release.
        release: What helm knows of it; None when there is none.
        chart: The chart.

    Raises:
        StillDeletedError: Nothing was changed; a later attempt may succeed.
        ProvisioningError: It was refused, and nothing was changed.
        CommandFailedError: helm or the API refused, or time ran out.
    """
    prepare(calls, release, chart)
    keep = ROLLBACK_SECONDS if release and calls.time_left > 2 * ROLLBACK_SECONDS else 0.0
    try:
        calls.upgrade(chart, take_ownership=False, keep_seconds=keep)
    except CommandFailedError as error:
        if not error.is_unowned:
            raise
        _refuse_strangers(calls, chart)
        calls.upgrade(chart, take_ownership=True, keep_seconds=keep)


def undo(calls: HelmReleaseCalls, before: Release | None) -> str:
    """Roll a failed upgrade back to what served, and return what serves now as a sentence.

    Args:
        calls: The release.
        before: What helm knew of it before the upgrade.
    """
    serving = before.serving if before is not None else None
    if before is None or serving is None:
        return ""
    try:
        after = calls.read()
        if after is None or after.last.number == before.last.number:
            return f"Revision {serving.number} still serves."
        roll_back(calls, after, serving.number)
    except (CommandFailedError, ProvisioningError) as error:
        log.warning("no rollback", release=calls.properties.physical_id, cause=str(error))
        return f"The rollback to revision {serving.number} failed too, parts of both may run."
    return f"Revision {serving.number} serves again."


def roll_back(calls: HelmReleaseCalls, release: Release, revision: int) -> None:
    """Make an earlier revision the current one again.

    Raises:
        CommandFailedError: helm or the API refused, or time ran out.
    """
    manifests = (calls.manifest(number) for number in (release.last.number, revision))
    spare(calls, lost(*differing(calls, *manifests)), doing="Rolling back")
    calls.roll_back(revision)


def _refuse_strangers(calls: HelmReleaseCalls, chart: Path) -> None:
    """Refuse to take over what the chart has and the release has not, unless it may.

    Raises:
        ProvisioningError: Something may not be taken over.
        CommandFailedError: helm or the API refused to tell.
    """
    manifest = calls.render(chart).templates
    wanted = calls.kubectl.parse(manifest, timeout_seconds=calls.read_seconds)
    live = calls.kubectl.live(wanted, timeout_seconds=calls.read_seconds)
    release = calls.properties.release_id
    found = strangers(live, release)
    refuse_adoption(found, release, namespaces=calls.properties.adopt_namespaces)
    log.info("taking over", objects=[named_object(item) for item in found])

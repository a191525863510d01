"""One install or upgrade: what is made sure before helm runs, and what is done when it fails."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from provisioner import log
from provisioner.command_failures import CommandFailedError
from provisioner.errors import ProvisioningError
from provisioner.helm_adoption import named_object, refuse_adoption, strangers
from provisioner.helm_definitions import plan_definitions, refuse_lost_versions
from provisioner.helm_losses import guard, spare
from provisioner.helm_release_calls import HelmReleaseCalls
from provisioner.helm_release_state import Release, returns
from provisioner.manifest import CONTAINERS, DEFINITION, Manifest, documents_of

Object = dict[str, Any]

DELETION_PATIENCE_SECONDS = 1200.0
"""How long after its deletion began a namespace or definition is waited for."""
ROLLBACK_SECONDS = 120.0
"""Kept back for rolling a failed upgrade back, where there is that much time at all."""
_ESTABLISHED_SECONDS = 60.0
_COLUMNS = (".kind", ".metadata.name", ".metadata.deletionTimestamp")


class StillDeletedError(ProvisioningError):
    """A namespace or definition that the chart needs is still being deleted; it will be gone."""


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
    manifest = calls.render(chart)
    rows = calls.kubectl.table(
        [_plural(kind) for kind in CONTAINERS],
        _COLUMNS,
        timeout_seconds=calls.read_seconds,
    )
    _await_deletions(calls, rows, manifest)
    before = _manifest_before(calls, release)
    if release is not None:
        protect = spare if returns(release, calls.wanted) else guard
        protect(calls, doing="Upgrading", before=before, after=manifest.templates)
    definitions = {name for kind, name, _ in rows if kind == DEFINITION}
    _write_definitions(calls, release, manifest, before=before, existing=definitions)
    keep = ROLLBACK_SECONDS if release and calls.time_left > 2 * ROLLBACK_SECONDS else 0.0
    try:
        calls.upgrade(chart, take_ownership=False, keep_seconds=keep)
    except CommandFailedError as error:
        if not error.is_unowned:
            raise
        _refuse_strangers(calls, manifest)
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
    spare(
        calls,
        doing="Rolling back",
        before=calls.manifest(release.last.number),
        after=calls.manifest(revision),
    )
    calls.roll_back(revision)


def _await_deletions(
    calls: HelmReleaseCalls, rows: Iterable[tuple[str, ...]], manifest: Manifest
) -> None:
    for kind, name, deleted in rows:
        needed = name == calls.properties.namespace or any(name in text for text in manifest)
        if not deleted or not needed:
            continue
        age = calls.clock.now() - datetime.fromisoformat(deleted).timestamp()
        patient = age < DELETION_PATIENCE_SECONDS
        error = StillDeletedError if patient else ProvisioningError
        raise error(
            f"The {kind} {name}, which the release {calls.properties.physical_id} needs, has been "
            f"deleted for {max(int(age), 0)} s and is still there",
            detail="" if patient else _what_remains(calls, kind, name),
            next_step=f"Free what holds it (kubectl describe {kind.lower()} {name} says what), "
            "then deploy again.",
        )


def _what_remains(calls: HelmReleaseCalls, kind: str, name: str) -> str:
    items = calls.kubectl.objects(
        _plural(kind), namespace=calls.properties.namespace, timeout_seconds=calls.read_seconds
    )
    return " ".join(
        condition.get("message", "")
        for item in items
        if item["metadata"]["name"] == name
        for condition in (item.get("status") or {}).get("conditions") or []
        if condition.get("status") == "True" and "Remaining" in condition.get("type", "")
    )


def _manifest_before(calls: HelmReleaseCalls, release: Release | None) -> str:
    """Return what helm compares the new manifest with: what serves, else what it tried last."""
    if release is None:
        return ""
    return calls.manifest((release.serving or release.last).number)


def _write_definitions(
    calls: HelmReleaseCalls,
    release: Release | None,
    manifest: Manifest,
    *,
    before: str,
    existing: set[str],
) -> None:
    templates = documents_of(manifest.templates, (DEFINITION,), without=before)
    changed = _known(calls, templates, existing)
    refuse_lost_versions(changed, calls.kubectl.live(changed, timeout_seconds=calls.read_seconds))
    if release is None and not any(name in manifest.crds for name in existing):
        return
    wanted = calls.kubectl.parse(manifest.crds, timeout_seconds=calls.read_seconds)
    live = calls.kubectl.live(wanted, timeout_seconds=calls.read_seconds)
    plan = plan_definitions(
        wanted, live, going_back=release is not None and returns(release, calls.wanted)
    )
    missing = plan.missing if release is not None else []  # helm makes them in an install
    writing = [*missing, *plan.changed]
    log.info("definitions", written=_names(writing), kept=_names(plan.kept))
    if writing:
        calls.kubectl.apply(writing, timeout_seconds=calls.read_seconds)
    if missing:
        calls.kubectl.await_established(
            _names(missing), timeout_seconds=min(_ESTABLISHED_SECONDS, calls.time_left)
        )


def _known(calls: HelmReleaseCalls, templates: str, existing: set[str]) -> list[Object]:
    """Return the definitions among templates that the cluster has already."""
    if not any(name in templates for name in existing):
        return []
    return [
        item
        for item in calls.kubectl.parse(templates, timeout_seconds=calls.read_seconds)
        if item["kind"] == DEFINITION and item["metadata"]["name"] in existing
    ]


def _refuse_strangers(calls: HelmReleaseCalls, manifest: Manifest) -> None:
    wanted = calls.kubectl.parse(manifest.templates, timeout_seconds=calls.read_seconds)
    live = calls.kubectl.live(wanted, timeout_seconds=calls.read_seconds)
    release = calls.properties.release_id
    found = strangers(live, release)
    refuse_adoption(found, release, namespaces=calls.properties.adopt_namespaces)
    log.info("taking over", objects=[named_object(item) for item in found])


def _names(items: Sequence[Object]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def _plural(kind: str) -> str:
    return f"{kind.lower()}s"

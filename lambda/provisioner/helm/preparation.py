"""What is made sure before helm upgrades a release."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from provisioner.framework import log
from provisioner.framework.errors import ProvisioningError
from provisioner.helm.calls import HelmReleaseCalls
from provisioner.helm.chart_text import mentions
from provisioner.helm.definitions import plan_definitions, refuse_lost_versions
from provisioner.helm.losses import differing, guard, spare
from provisioner.helm.state import Release, returns
from provisioner.kubernetes.manifest import DEFINITION, NAMESPACE, Manifest, lost

Object = dict[str, Any]

DELETION_PATIENCE_SECONDS = 1200.0
"""How long after its deletion began a namespace or definition is waited for."""
_ESTABLISHED_SECONDS = 60.0
_API_VERSIONS = {NAMESPACE: "v1", DEFINITION: "apiextensions.k8s.io/v1"}


class StillDeletedError(ProvisioningError):
    """A namespace or definition that the chart needs is still being deleted; it will be gone."""


def prepare(calls: HelmReleaseCalls, release: Release | None, chart: Path) -> None:
    """Bring the cluster to where helm can upgrade, and refuse what must not be.

    Args:
        calls: The release.
        release: What helm knows of it; None when there is none.
        chart: The chart.

    Raises:
        StillDeletedError: A later attempt may succeed.
        ProvisioningError: It was refused.
        CommandFailedError: helm or the API refused, or time ran out.
    """
    existing = calls.session.listing.containers(timeout_seconds=calls.read_seconds)
    own_namespace = (NAMESPACE, calls.properties.namespace)
    if own_namespace in existing.going:
        _refuse_deleted(calls, *own_namespace)
    definitions = existing.names[DEFINITION]
    going = {name for _, name in existing.going}
    if release is None and not mentions(chart, definitions | going):
        return  # helm alone does everything right
    manifest = calls.render(chart)
    for kind, name in sorted(existing.going):
        if any(name in text for text in manifest):
            _refuse_deleted(calls, kind, name)
    before = calls.manifest((release.serving or release.last).number) if release else ""
    old, new = differing(calls, before, manifest.templates)
    if release is not None:
        protect = spare if returns(release, calls.wanted) else guard
        protect(calls, lost(old, new), doing="Upgrading")
    known = [item for item in new if item["metadata"]["name"] in definitions]
    _prepare_definitions(calls, release, manifest, [dict(item) for item in known])


def _prepare_definitions(
    calls: HelmReleaseCalls, release: Release | None, manifest: Manifest, templates: list[Object]
) -> None:
    """Write the definitions of `crds/` and check those that helm writes, among the templates."""
    wanted = calls.kubectl.parse(manifest.crds, timeout_seconds=calls.read_seconds)
    live = calls.kubectl.live([*wanted, *templates], timeout_seconds=calls.read_seconds)
    refuse_lost_versions([item for item in templates if item["kind"] == DEFINITION], live)
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


def _refuse_deleted(calls: HelmReleaseCalls, kind: str, name: str) -> None:
    """Refuse to go on while something is being deleted, unless it is gone by now."""
    key = {"apiVersion": _API_VERSIONS[kind], "kind": kind, "metadata": {"name": name}}
    for item in calls.kubectl.live([key], timeout_seconds=calls.read_seconds):
        if "deletionTimestamp" in item["metadata"]:
            raise _still_deleted(calls, item)


def _still_deleted(calls: HelmReleaseCalls, item: Object) -> ProvisioningError:
    metadata = item["metadata"]
    deleted = datetime.fromisoformat(metadata["deletionTimestamp"]).timestamp()
    age = max(calls.clock.now() - deleted, 0.0)
    remaining = " ".join(
        condition.get("message", "")
        for condition in (item.get("status") or {}).get("conditions") or []
        if condition.get("status") == "True" and "Remaining" in condition.get("type", "")
    )
    error = StillDeletedError if age < DELETION_PATIENCE_SECONDS else ProvisioningError
    return error(
        f"The {item['kind']} {metadata['name']}, which the release {calls.properties.physical_id} "
        f"needs, has been deleted for {age:.0f} s and is still there",
        detail=remaining,
        next_step=f"Free what holds it (kubectl describe {item['kind'].lower()} "
        f"{metadata['name']} says what), then deploy again.",
    )


def _names(items: Sequence[Object]) -> list[str]:
    return [item["metadata"]["name"] for item in items]

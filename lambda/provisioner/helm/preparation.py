"""What is checked, and written, before helm installs or upgrades a release.

helm writes the CustomResourceDefinitions of a chart's `crds/` when it installs a release and never
again. An upgrade without them runs a new operator on old definitions, so they are applied before.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from hyperpod_shared.errors import ProvisioningError
from provisioner.framework import log
from provisioner.helm.chart import mentions
from provisioner.helm.client import ReleaseClient
from provisioner.helm.state import Release, was_deployed_before
from provisioner.helm.user_objects import changed_containers, keep_user_objects, refuse_loss
from provisioner.kubernetes.manifest import (
    DEFINITION,
    KEEP,
    NAMESPACE,
    RESOURCE_POLICY,
    Manifest,
    Object,
    deleted_containers,
    object_name,
    release_of,
)

DELETION_PATIENCE_SECONDS = 1200.0
"""How long after its deletion began a namespace or definition is waited for."""
_UNDISCOVERED = "NamespaceDeletionDiscoveryFailure"
_NOTHING_LEFT = (
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
    "NamespaceDeletionContentFailure",
)
_HINDRANCES = frozenset({_UNDISCOVERED, *_NOTHING_LEFT})
_CONSENT = "deploy helm.delete_user_objects: true first"
_API_VERSIONS = {NAMESPACE: "v1", DEFINITION: "apiextensions.k8s.io/v1"}
_MOST_NAMED = 3


class LaterError(ProvisioningError):
    """A namespace or definition that the chart needs is being deleted, or is not there yet."""


class DefinitionPlan(NamedTuple):
    """What is to be done about the definitions in `crds/`; in an install helm creates the missing.

    Kept are those that would lose a version that objects may be stored in.
    """

    missing: list[Object]
    changed: list[Object]
    kept: list[Object]


def prepare(client: ReleaseClient, release: Release | None, chart: Path) -> None:
    """Bring the cluster to where helm can upgrade, and refuse what must not happen.

    Raises:
        LaterError: A later attempt may succeed.
        ProvisioningError: It was refused.
        CommandFailedError: helm or the API refused, or time ran out.
    """
    existing = client.containers()
    release_namespace = (NAMESPACE, client.properties.namespace)
    if release_namespace in existing.terminating:
        _refuse_terminating(client, *release_namespace)
    definitions = existing.definitions
    _await_definitions(client, definitions)
    terminating = {name for _, name in existing.terminating}
    if release is None and not mentions(chart, definitions | terminating):
        return  # helm alone does everything right
    manifest = client.render(chart)
    for kind, name in sorted(existing.terminating):
        if any(name in text for text in manifest):
            _refuse_terminating(client, kind, name)
    before = client.manifest((release.serving or release.last).number) if release else ""
    old, new = changed_containers(client.kubectl, before, manifest.templates)
    going_back = release is not None and was_deployed_before(release, client.wanted)
    deleted = deleted_containers(old, new)
    if going_back:
        keep_user_objects(client, deleted, step="Upgrading")
    elif release is not None and not client.properties.delete_user_objects:
        refuse_loss(client, deleted, step="Upgrading", consent=_CONSENT)
    existing_new = [
        item
        for item in new
        if item["kind"] == DEFINITION and item["metadata"]["name"] in definitions
    ]
    _prepare_definitions(
        client, manifest, existing_new, installing=release is None, going_back=going_back
    )


def lacks_definitions(client: ReleaseClient) -> bool:
    """Say whether a definition is gone that the release needs, and all objects of its kind."""
    needed = client.properties.needs_definitions
    return bool(needed) and not set(needed) <= client.containers().definitions


def _await_definitions(client: ReleaseClient, definitions: Collection[str]) -> None:
    missing = [name for name in client.properties.needs_definitions if name not in definitions]
    if missing:
        raise LaterError(
            f"The Helm release {client.properties.physical_id} needs the CustomResourceDefinition "
            f"{missing[0]}, which is not there yet",
            next_step="Check its owner: for Karpenter, the field AutoScaling of aws sagemaker "
            "describe-cluster; then deploy again.",
        )


def plan_definitions(
    wanted: Sequence[Object], live: Sequence[Object], *, going_back: bool
) -> DefinitionPlan:
    """Compare a chart's definitions with those of the cluster.

    A release that goes back to an earlier chart keeps a definition that has more versions than the
    wanted one: it serves the earlier release as well, and the way back must not fail.

    Raises:
        ProvisioningError: A version that objects may be stored in would be lost.
    """
    found = {item["metadata"]["name"]: item for item in live}
    pairs = [(item, found.get(item["metadata"]["name"])) for item in wanted]
    missing = [item for item, current in pairs if current is None]
    differing = [(item, now) for item, now in pairs if now and not _is_applied(item, now)]
    kept = [item for item, now in differing if going_back and _lost_versions(item, now)]
    changed = [item for item, _ in differing if item not in kept]
    refuse_lost_versions(changed, live)
    return DefinitionPlan(missing=missing, changed=changed, kept=kept)


def refuse_lost_versions(wanted: Sequence[Object], live: Sequence[Object]) -> None:
    """Refuse definitions without a version that objects in etcd may be stored in."""
    found = {item["metadata"]["name"]: item for item in live}
    for item in wanted:
        name = item["metadata"]["name"]
        lost = _lost_versions(item, found[name]) if name in found else []
        if lost:
            raise ProvisioningError(
                f"The chart's CustomResourceDefinition {name} has no version {', '.join(lost)}",
                detail=f"it has {', '.join(_versions(item))}; objects may be stored as "
                f"{', '.join(lost)} (status.storedVersions) and would be lost",
                next_step="Use a chart that still serves it, or migrate the stored objects and "
                "remove the version from status.storedVersions, then deploy again.",
            )


def _prepare_definitions(
    client: ReleaseClient,
    manifest: Manifest,
    templates: Sequence[Object],
    *,
    installing: bool,
    going_back: bool,
) -> None:
    """Write the definitions of `crds/` and check those that helm writes, among the templates."""
    wanted = client.kubectl.parse(manifest.crds)
    live = client.kubectl.live([*wanted, *templates])
    refuse_lost_versions(templates, live)
    plan = plan_definitions(wanted, live, going_back=going_back)
    missing = [] if installing else plan.missing
    writing = [*missing, *plan.changed]
    log.info("definitions", written=_names(writing), kept=_names(plan.kept))
    if writing:
        client.kubectl.apply(writing)
    if missing:
        client.kubectl.await_established(_names(missing))


def _lost_versions(wanted: Object, live: Object) -> list[str]:
    """Return the versions that objects may be stored in and that the wanted definition lacks."""
    stored: list[str] = (live.get("status") or {}).get("storedVersions") or []
    return [version for version in stored if version not in _versions(wanted)]


def _versions(definition: Object) -> list[str]:
    return [version["name"] for version in definition["spec"]["versions"]]


def _is_applied(wanted: Object, live: Object) -> bool:
    """Say whether applying would change nothing; the API server adds defaults outside versions."""
    spec = {key: value for key, value in wanted["spec"].items() if key != "versions"}
    return (
        _is_in(spec, live["spec"])
        and wanted["spec"]["versions"] == live["spec"]["versions"]
        and all(
            _is_in(wanted["metadata"].get(key) or {}, live["metadata"].get(key) or {})
            for key in ("labels", "annotations")
        )
    )


def _is_in(part: object, whole: object) -> bool:
    if isinstance(part, Mapping) and isinstance(whole, Mapping):
        return all(key in whole and _is_in(value, whole[key]) for key, value in part.items())
    return part == whole


def _refuse_terminating(client: ReleaseClient, kind: str, name: str) -> None:
    """Refuse to continue while an object is being deleted, unless it is gone by now."""
    key = {"apiVersion": _API_VERSIONS[kind], "kind": kind, "metadata": {"name": name}}
    for item in client.kubectl.live([key]):
        if "deletionTimestamp" not in item["metadata"]:
            continue
        if _is_empty_but_undiscovered(item):
            log.info("empty, but an API does not answer", namespace=name, detail=_remaining(item))
            client.kubectl.finalize_namespace(item)
            continue
        began = datetime.fromisoformat(item["metadata"]["deletionTimestamp"]).timestamp()
        age = max(client.turn.clock.now() - began, 0.0)
        waits = age < DELETION_PATIENCE_SECONDS or client.turn.rolls_back
        error = LaterError if waits else ProvisioningError
        raise error(
            f"The {kind} {name}, which the release {client.properties.physical_id} needs, has been "
            f"terminating for {age:.0f} s",
            detail=_remaining(item),
            next_step=f"Remove what blocks its deletion (kubectl describe {kind.lower()} {name} "
            "names it), then deploy again.",
        )


def _is_empty_but_undiscovered(item: Object) -> bool:
    """Say whether a terminating namespace waits for nothing but an API that does not answer.

    An aggregated API, such as that of metrics-server, runs on nodes, and these join only once the
    release is installed. Kubernetes has deleted all that the other APIs know.
    https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/controller/namespace/deletion/status_condition_utils.go
    """
    conditions = (item.get("status") or {}).get("conditions") or []
    states = {condition.get("type"): condition.get("status") for condition in conditions}
    return states.get(_UNDISCOVERED) == "True" and all(
        states.get(kind) == "False" for kind in _NOTHING_LEFT
    )


def _remaining(item: Object) -> str:
    """Return what Kubernetes says is left in a terminating namespace, or keeps it from looking."""
    return " ".join(
        condition.get("message", "")
        for condition in (item.get("status") or {}).get("conditions") or []
        if condition.get("status") == "True" and condition.get("type") in _HINDRANCES
    )


def _names(items: Sequence[Object]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def refuse_unowned(client: ReleaseClient, chart: Path) -> None:
    """Refuse to take over what the chart has and the release does not own, unless it may.

    Raises:
        ProvisioningError: An object may not be taken over.
        CommandFailedError: helm or the API refused to say.
    """
    wanted = client.kubectl.parse(client.render(chart).templates)
    release = client.properties.release_id
    unowned = [item for item in client.kubectl.live(wanted) if release_of(item) != release]
    allowed = client.properties.adopt_namespaces
    refused = [item for item in unowned if not _may_take_over(item, allowed)]
    if not refused:
        log.info("taking over", objects=[object_name(item) for item in unowned])
        return
    more = f" and {len(refused) - _MOST_NAMED} more" if len(refused) > _MOST_NAMED else ""
    named = ", ".join(f"{object_name(item)} ({_owner(item)})" for item in refused[:_MOST_NAMED])
    raise ProvisioningError(
        f"The chart of the Helm release {release} contains objects that exist already and that the "
        f"release does not own: {named}{more}",
        next_step="Delete them, or remove them from their owner, then deploy again. A namespace "
        "that no release owns is taken over when helm.adopt_namespaces lists it.",
    )


def _may_take_over(item: Object, namespaces: Sequence[str]) -> bool:
    metadata = item["metadata"]
    if item["kind"] == NAMESPACE and metadata["name"] in namespaces:
        # One that stays when its release goes may change hands.
        stays = (metadata.get("annotations") or {}).get(RESOURCE_POLICY) == KEEP
        return release_of(item) is None or stays
    return release_of(item) is None and bool(item["kind"] == DEFINITION)


def _owner(item: Object) -> str:
    release = release_of(item)
    if release is not None:
        return f"owned by the Helm release {release}"
    managers = [entry.get("manager") for entry in item["metadata"].get("managedFields") or []]
    return f"made by {managers[0]}" if managers and managers[0] else "owned by no release"

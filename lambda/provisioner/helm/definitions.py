"""CustomResourceDefinitions of a chart: what an upgrade must write itself, and what it must not.

helm writes the CRDs in a chart's ``crds/`` when it installs a release and never again. An upgrade
that leaves them behind runs a new operator on old definitions, so they are applied before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from provisioner.framework.errors import ProvisioningError
from provisioner.kubernetes.manifest import versions_of

Object = dict[str, Any]


class Definitions(NamedTuple):
    """What is to be done about the definitions in ``crds/``.

    Args:
        missing: To be made; helm does it in an install.
        changed: To be changed.
        kept: Left as they are, because a version would be lost that objects may be stored in.
    """

    missing: list[Object]
    changed: list[Object]
    kept: list[Object]


def plan_definitions(
    wanted: Sequence[Object], live: Sequence[Object], *, going_back: bool
) -> Definitions:
    """Compare a chart's definitions with those of the cluster.

    Args:
        wanted: The chart's.
        live: Those of the same names that exist.
        going_back: Whether this undoes a newer release. Then a definition that knows more than the
            wanted one stays: it serves the older release as well, and the way back must not fail.

    Raises:
        ProvisioningError: A version that objects may be stored in would be lost.
    """
    found = {item["metadata"]["name"]: item for item in live}
    missing = [item for item in wanted if item["metadata"]["name"] not in found]
    changed: list[Object] = []
    kept: list[Object] = []
    for item in wanted:
        current = found.get(item["metadata"]["name"])
        if current is None or _says_the_same(item, current):
            continue
        if going_back and lost_versions(item, current):
            kept.append(item)
        else:
            changed.append(item)
    refuse_lost_versions(changed, live)
    return Definitions(missing=missing, changed=changed, kept=kept)


def refuse_lost_versions(wanted: Sequence[Object], live: Sequence[Object]) -> None:
    """Refuse definitions without a version that objects in etcd may be stored in.

    Raises:
        ProvisioningError: There is one.
    """
    found = {item["metadata"]["name"]: item for item in live}
    for item in wanted:
        name = item["metadata"]["name"]
        lost = lost_versions(item, found[name]) if name in found else []
        if lost:
            raise ProvisioningError(
                f"The chart's CustomResourceDefinition {name} has no version {', '.join(lost)}",
                detail=f"it has {', '.join(versions_of(item))}; objects may be stored as "
                f"{', '.join(lost)} (status.storedVersions) and would be lost",
                next_step="Use a chart that still serves it, or migrate the stored objects and "
                "take the version out of status.storedVersions, then deploy again.",
            )


def lost_versions(wanted: Object, live: Object) -> list[str]:
    """Return the versions that objects may be stored in and that the wanted definition lacks."""
    stored: list[str] = (live.get("status") or {}).get("storedVersions") or []
    return [version for version in stored if version not in versions_of(wanted)]


def _says_the_same(wanted: Object, live: Object) -> bool:
    """Say whether applying would change nothing; the API server adds defaults beside versions."""
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

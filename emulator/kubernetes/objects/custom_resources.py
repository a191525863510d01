"""CustomResourceDefinitions: the resources they make, and the status that says so."""

from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import now
from emulator.kubernetes.objects.resources import Resource, ResourceCatalog
from emulator.kubernetes.objects.schemas import BuiltInSchemas

KIND = "CustomResourceDefinition"


def serve(definition: Object, *, catalog: ResourceCatalog, schemas: BuiltInSchemas) -> None:
    """Serve the resource that a definition describes, in each version it serves."""
    spec = definition["spec"]
    names = spec["names"]
    catalog.remove(group=spec["group"], plural=names["plural"])
    for version in spec["versions"]:
        if not version["served"]:
            continue
        catalog.add(
            Resource(
                group=spec["group"],
                version=version["name"],
                kind=names["kind"],
                plural=names["plural"],
                namespaced=spec["scope"] == "Namespaced",
                schema=schemas.custom(version["schema"]["openAPIV3Schema"]),
                short_names=tuple(names.get("shortNames", ())),
                categories=tuple(names.get("categories", ())),
                has_status="status" in version.get("subresources", {}),
                custom=True,
                columns=tuple(version.get("additionalPrinterColumns", ())),
            )
        )


def withdraw(definition: Object, *, catalog: ResourceCatalog) -> None:
    """Stop serving the resource of a definition."""
    spec = definition["spec"]
    catalog.remove(group=spec["group"], plural=spec["names"]["plural"])


def established_status(definition: Object) -> Object:
    """Return the status of a definition whose resource is served.

    Args:
        definition: The definition; its conditions keep their times.
    """
    spec = definition["spec"]
    names = dict(spec["names"])
    names.setdefault("listKind", f"{names['kind']}List")
    names.setdefault("singular", names["kind"].lower())
    storage = next(version["name"] for version in spec["versions"] if version["storage"])
    before = definition.get("status", {})
    stored = before.get("storedVersions", [])
    return {
        "acceptedNames": names,
        "storedVersions": stored if storage in stored else [*stored, storage],
        "conditions": before.get("conditions")
        or [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            _condition("Established", "InitialNamesAccepted", "the initial names were accepted"),
        ],
    }


def _condition(kind: str, reason: str, message: str) -> Object:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": now(),
    }

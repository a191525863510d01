"""The resources the server serves: the built-in ones and those that definitions add."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from kubernetes import client

from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import condition
from hyperpod_emulator.kubernetes.objects.validation import BuiltInSchemas, Schema

SHORT_NAMES = {
    "CertificateSigningRequest": ("csr",),
    "ConfigMap": ("cm",),
    "CronJob": ("cj",),
    "CustomResourceDefinition": ("crd", "crds"),
    "DaemonSet": ("ds",),
    "Deployment": ("deploy",),
    "Endpoints": ("ep",),
    "Event": ("ev",),
    "HorizontalPodAutoscaler": ("hpa",),
    "IPAddress": ("ip",),
    "Ingress": ("ing",),
    "LimitRange": ("limits",),
    "Namespace": ("ns",),
    "NetworkPolicy": ("netpol",),
    "Node": ("no",),
    "PersistentVolume": ("pv",),
    "PersistentVolumeClaim": ("pvc",),
    "Pod": ("po",),
    "PodDisruptionBudget": ("pdb",),
    "PriorityClass": ("pc",),
    "ReplicaSet": ("rs",),
    "ReplicationController": ("rc",),
    "ResourceQuota": ("quota",),
    "Service": ("svc",),
    "ServiceAccount": ("sa",),
    "StatefulSet": ("sts",),
    "StorageClass": ("sc",),
    "VolumeAttributesClass": ("vac",),
}

# What `kubectl get all` means.
IN_CATEGORY_ALL = frozenset(
    {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "HorizontalPodAutoscaler",
        "Job",
        "Pod",
        "ReplicaSet",
        "ReplicationController",
        "Service",
        "StatefulSet",
    }
)

# Kinds whose list definition exists but that no client may store.
NOT_SERVED = frozenset({"APIGroup", "APIResource", "ComponentStatus", "Status"})

# A group version that is only another view of the objects of a newer one.
SUPERSEDED_GROUP_VERSIONS = frozenset({"autoscaling/v1"})

# English plurals that the rules of `plural_of` get wrong.
IRREGULAR_PLURALS = {"Endpoints": "endpoints"}

VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")
_STABLE = re.compile(r"v\d+")


@dataclass(frozen=True, slots=True)
class ApiResource:
    """One resource in one version.

    Attributes:
        group: API group; empty for the core group.
        plural: Name in the URL.
        schema: Schema of its objects; None when the definition gives none.
        categories: Groups of resources it belongs to, such as `all`.
        columns: `additionalPrinterColumns` of the definition.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    schema: Schema | None
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    has_status: bool = False
    custom: bool = False
    columns: tuple[Object, ...] = field(default=(), compare=False)

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def storage_group(self) -> tuple[str, str]:
        """What all versions of the resource share: group and plural."""
        return (self.group, self.plural)


class ResourceCatalog:
    """Finds resources by URL or by kind."""

    def __init__(self, *, schemas: BuiltInSchemas) -> None:
        self._resources: dict[tuple[str, str, str], ApiResource] = {}
        for resource in _built_ins(schemas):
            self.add(resource)

    def __iter__(self) -> Iterator[ApiResource]:
        return iter(list(self._resources.values()))

    def add(self, resource: ApiResource) -> None:
        """Serve a resource, replacing an earlier form of it."""
        self._resources[(resource.group, resource.version, resource.plural)] = resource

    def remove(self, *, group: str, plural: str) -> None:
        """Stop serving a resource in all its versions."""
        for key in [key for key in self._resources if (key[0], key[2]) == (group, plural)]:
            del self._resources[key]

    def kept(self) -> Callable[[], None]:
        """Return what serves the resources again that are served now."""
        kept = dict(self._resources)

        def put_back() -> None:
            self._resources = dict(kept)

        return put_back

    def by_path(self, *, group: str, version: str, plural: str) -> ApiResource | None:
        """Return the resource at a URL, or None."""
        return self._resources.get((group, version, plural))

    def by_kind(self, *, api_version: str, kind: str) -> ApiResource | None:
        """Return the resource of an object, or None."""
        for resource in self._resources.values():
            if resource.kind == kind and resource.api_version == api_version:
                return resource
        return None

    def built_in(self, kind: str, *, api_version: str = "v1") -> ApiResource:
        """Return the resource of a kind that every cluster has."""
        return next(r for r in self if (r.kind, r.api_version) == (kind, api_version))

    def group_versions(self) -> dict[str, list[str]]:
        """Return the versions of each group, the preferred one first."""
        versions: dict[str, list[str]] = {}
        for group, version, _ in self._resources:
            known = versions.setdefault(group, [])
            if version not in known:
                known.append(version)
        for known in versions.values():
            known.sort(key=_version_priority)
        return versions

    def of(self, *, group: str, version: str) -> list[ApiResource]:
        """Return the resources of one group version."""
        return [item for item in self if (item.group, item.version) == (group, version)]


def _built_ins(schemas: BuiltInSchemas) -> Iterable[ApiResource]:
    """The stable kinds of this Kubernetes version: those that have a list kind."""
    kinds = schemas.kinds()
    for group, version, kind in kinds:
        api_version = f"{group}/{version}" if group else version
        if (
            not _STABLE.fullmatch(version)  # alpha and beta versions are off by default
            or (group, version, f"{kind}List") not in kinds
            or kind in NOT_SERVED
            or api_version in SUPERSEDED_GROUP_VERSIONS
        ):
            continue
        schema = schemas.of(group=group, version=version, kind=kind)
        yield ApiResource(
            group=group,
            version=version,
            kind=kind,
            plural=plural_of(kind),
            namespaced=_snake(kind) in _namespaced_kinds(),
            schema=schema,
            short_names=SHORT_NAMES.get(kind, ()),
            categories=("all",) if kind in IN_CATEGORY_ALL else (),
            has_status=schema.of_field("status") is not None,
        )


@cache
def _namespaced_kinds() -> frozenset[str]:
    """Return the kinds that the Kubernetes client reads in a namespace, as its methods say."""
    prefix = "read_namespaced_"
    apis = (each for name, each in vars(client).items() if name.endswith("Api"))
    return frozenset(
        method.removeprefix(prefix)
        for api in apis
        for method in vars(api)
        if method.startswith(prefix)
    )


def _snake(kind: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind).lower()


def _version_priority(version: str) -> tuple[int, int, int]:
    """Sort key of Kubernetes versions: v2, v1, v1beta2, v1beta1, v1alpha1."""
    match = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if match is None:
        return (3, 0, 0)
    stability = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return (stability, -int(match[1]), -int(match[3] or 0))


def plural_of(kind: str) -> str:
    """Return the resource name of a built-in kind: `NetworkPolicy` is `networkpolicies`."""
    if kind in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[kind]
    lower = kind.lower()
    if lower.endswith("y"):
        return lower[:-1] + "ies"
    return lower + ("es" if lower.endswith(("s", "x", "ch")) else "s")


DEFINITION = "CustomResourceDefinition"


def serve(definition: Object, *, catalog: ResourceCatalog, schemas: BuiltInSchemas) -> None:
    """Serve the resource that a definition describes, in each version it serves."""
    spec = definition["spec"]
    names = spec["names"]
    catalog.remove(group=spec["group"], plural=names["plural"])
    for version in spec["versions"]:
        if not version["served"]:
            continue
        catalog.add(
            ApiResource(
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
    """Return the status of a definition whose resource is served; conditions keep their times."""
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
            condition(kind, "True", reason=reason, message=message)
            for kind, reason, message in (
                ("NamesAccepted", "NoConflicts", "no conflicts found"),
                ("Established", "InitialNamesAccepted", "the initial names were accepted"),
            )
        ],
    }

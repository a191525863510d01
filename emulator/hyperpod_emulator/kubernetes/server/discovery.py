"""Which groups, versions and resources the server has, and what OpenAPI v3 says of writes."""

import hashlib
from collections.abc import Iterable

from hyperpod_emulator.kubernetes.objects.errors import Object, no_such_path
from hyperpod_emulator.kubernetes.objects.resources import VERBS, ApiResource, ResourceCatalog
from hyperpod_emulator.kubernetes.server.authentication import ACCESS_REVIEW


def core_versions() -> Object:
    """Answer `/api`."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(catalog: ResourceCatalog, *, aggregated: Iterable[tuple[str, str]]) -> Object:
    """Answer `/apis` with what the server and aggregated APIs serve."""
    served = _groups(catalog)
    for name, version in aggregated:
        served.setdefault(name, []).append(version)
    groups = [_group(name, versions) for name, versions in served.items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def resource_list(catalog: ResourceCatalog, *, group: str, version: str) -> Object:
    """Answer `/api/v1` and `/apis/<group>/<version>`."""
    entries = [
        entry for item in catalog.of(group=group, version=version) for entry in _entries(item)
    ]
    api_version = f"{group}/{version}" if group else version
    if (group, version) == ACCESS_REVIEW[:2]:
        review = {"name": ACCESS_REVIEW[2], "kind": "SelfSubjectAccessReview"}
        entries.append({**review, "singularName": "", "namespaced": False, "verbs": ["create"]})
    if not entries:
        raise no_such_path()
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version,
        "resources": entries,
    }


def aggregated_resource_list(*, group: str, version: str) -> Object:
    """Answer `/apis/<group>/<version>` for an aggregated API, of which no object is served here."""
    metrics = {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics"}
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}",
        "resources": [{**metrics, "verbs": ["get", "list"]}],
    }


def _groups(catalog: ResourceCatalog) -> dict[str, list[str]]:
    groups = catalog.group_versions()
    groups.setdefault(ACCESS_REVIEW[0], [ACCESS_REVIEW[1]])
    return groups


def _group(name: str, versions: list[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _entries(resource: ApiResource) -> list[Object]:
    entry: Object = {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(VERBS),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if not resource.has_status:
        return [entry]
    status = {
        "name": f"{resource.plural}/status",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": ["get", "patch", "update"],
    }
    return [entry, status]


_GVK = "x-kubernetes-group-version-kind"
_WRITE_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


def openapi_index(catalog: ResourceCatalog) -> Object:
    """Answer `/openapi/v3`; the hash tells clients when to read a document again."""
    paths = {}
    for group, versions in catalog.group_versions().items():
        for version in versions:
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            named = repr([item.plural for item in catalog.of(group=group, version=version)])
            digest = hashlib.sha256(named.encode()).hexdigest()[:32].upper()
            paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": paths}


def openapi_document(catalog: ResourceCatalog, path: str) -> Object:
    """Answer `/openapi/v3/<path>`: from it clients learn that the server validates fields."""
    group, _, version = path.removeprefix("apis/").removeprefix("api/").rpartition("/")
    resources = catalog.of(group=group, version=version)
    if not resources:
        raise no_such_path()
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": {f"/{path}/{_item_path(each)}": _operations(each) for each in resources},
    }


def _item_path(resource: ApiResource) -> str:
    return f"{'namespaces/{namespace}/' if resource.namespaced else ''}{resource.plural}/{{name}}"


def _operations(resource: ApiResource) -> Object:
    operation = {_GVK: _gvk(resource), "responses": {}}
    writing = {**operation, "parameters": _WRITE_PARAMETERS}
    return {"get": operation, "put": writing, "patch": writing, "delete": operation}


def _gvk(resource: ApiResource) -> Object:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}

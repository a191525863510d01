"""Which groups, versions and resources the server has, and the OpenAPI v3 of their fields."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from emulator.kubernetes.objects.errors import Object, no_such_path
from emulator.kubernetes.objects.resources import VERBS, Resource, ResourceCatalog
from emulator.kubernetes.objects.validation import OBJECT_META, BuiltInSchemas
from emulator.kubernetes.server.authentication import REVIEWS


def core_versions() -> Object:
    """Answer `/api`."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(catalog: ResourceCatalog, *, aggregated: Iterable[tuple[str, str]] = ()) -> Object:
    """Answer `/apis`.

    Args:
        catalog: What the server itself serves.
        aggregated: Group and version of what others serve.
    """
    served = _groups(catalog)
    for name, version in aggregated:
        served.setdefault(name, []).append(version)
    groups = [_group(name, versions) for name, versions in served.items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(catalog: ResourceCatalog, name: str) -> Object:
    """Answer `/apis/<group>`.

    Raises:
        ApiError: There is no such group (404).
    """
    versions = _groups(catalog).get(name)
    if not versions:
        raise no_such_path()
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def resource_list(catalog: ResourceCatalog, *, group: str, version: str) -> Object:
    """Answer `/api/v1` and `/apis/<group>/<version>`.

    Raises:
        ApiError: There is no such group version (404).
    """
    entries = [
        entry for item in catalog.of(group=group, version=version) for entry in _entries(item)
    ]
    api_version = f"{group}/{version}" if group else version
    entries += [
        {
            "name": review.plural,
            "singularName": "",
            "namespaced": False,
            "kind": review.kind,
            "verbs": ["create"],
        }
        for review in REVIEWS
        if review.api_version == api_version
    ]
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
    for review in REVIEWS:
        name, _, version = review.api_version.partition("/")
        groups.setdefault(name, [version])
    return groups


def _group(name: str, versions: list[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _entries(resource: Resource) -> list[Object]:
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


_LOCAL = "#/$defs/"
_COMPONENTS = "#/components/schemas/"
_GVK = "x-kubernetes-group-version-kind"
_WRITE_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


class OpenApi:
    """Makes the documents; those of built-in groups are kept."""

    def __init__(self, *, catalog: ResourceCatalog, schemas: BuiltInSchemas) -> None:
        self._catalog = catalog
        self._schemas = schemas
        self._kept: dict[str, Object] = {}

    def index(self) -> Object:
        """Answer `/openapi/v3`."""
        paths = {}
        for group, versions in self._catalog.group_versions().items():
            for version in versions:
                path = f"apis/{group}/{version}" if group else f"api/{version}"
                digest = self._digest(self._catalog.of(group=group, version=version))
                paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
        return {"paths": paths}

    def document(self, path: str) -> Object:
        """Answer `/openapi/v3/<path>`.

        Raises:
            ApiError: There is no such group version (404).
        """
        if path in self._kept:
            return self._kept[path]
        group, _, version = path.removeprefix("apis/").removeprefix("api/").rpartition("/")
        resources = self._catalog.of(group=group, version=version)
        if not resources:
            raise no_such_path()
        document = {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "unversioned"},
            "paths": {
                f"/{path}/{_item_path(resource)}": _operations(resource) for resource in resources
            },
            "components": {"schemas": self._components(resources)},
        }
        if not any(resource.custom for resource in resources):
            self._kept[path] = document
        return document

    def _components(self, resources: Iterable[Resource]) -> Object:
        definitions = self._schemas.definitions
        components: Object = {}
        pending: list[str] = [OBJECT_META]
        for resource in resources:
            schema = resource.schema
            if schema is None:
                continue
            if schema.name:
                pending.append(schema.name)
            else:
                components[_custom_name(resource)] = {
                    **_open_api(schema.raw),
                    _GVK: [_gvk(resource)],
                }
        while pending:
            name = pending.pop()
            if name not in components:
                components[name] = _open_api(definitions[name])
                pending += _references(definitions[name])
        return components

    def _digest(self, resources: list[Resource]) -> str:
        """Changes when a document does: built-in ones never do within one server."""
        shown = [
            [item.plural, item.schema.raw if item.custom and item.schema else None]
            for item in resources
        ]
        return hashlib.sha256(json.dumps(shown, default=dict).encode()).hexdigest()[:32].upper()


def _item_path(resource: Resource) -> str:
    return f"{'namespaces/{namespace}/' if resource.namespaced else ''}{resource.plural}/{{name}}"


def _operations(resource: Resource) -> Object:
    operation = {_GVK: _gvk(resource), "responses": {}}
    writing = {**operation, "parameters": _WRITE_PARAMETERS}
    return {"get": operation, "put": writing, "patch": writing, "delete": operation}


def _gvk(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _custom_name(resource: Resource) -> str:
    domain = ".".join(reversed(resource.group.split(".")))
    return f"{domain}.{resource.version}.{resource.kind}"


def _open_api(node: Mapping[str, Any]) -> Object:
    """A node of JSON schema as OpenAPI has it: other references, no null types."""
    return {key: _open_api_value(key, value) for key, value in node.items()}


def _open_api_value(key: str, value: object) -> object:
    if key == "$ref" and isinstance(value, str):
        return _COMPONENTS + value.removeprefix(_LOCAL)
    if key == "type" and isinstance(value, list):
        return next(name for name in value if name != "null")
    if isinstance(value, dict):
        return _open_api(value)
    if isinstance(value, list):
        return [_open_api_value("", entry) for entry in value]
    return value


def _references(node: object) -> list[str]:
    """The names of the definitions that a node refers to, at any depth."""
    if isinstance(node, list):
        return [name for entry in node for name in _references(entry)]
    if not isinstance(node, dict):
        return []
    reference = node.get("$ref")
    own = [reference.removeprefix(_LOCAL)] if isinstance(reference, str) else []
    return own + [name for value in node.values() for name in _references(value)]

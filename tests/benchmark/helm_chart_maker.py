"""Writes a chart of the official one's size.

It has 17 subcharts, 8 of them off, 39 objects and 5 CRDs, each CRD of about 250 KB; 4 MB in all.
The subcharts are dependencies by path, as the official chart's own are.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAME = "large"
# As many objects of each kind as the official chart renders by default, without its one CRD.
_KINDS = {
    "ServiceAccount": 6,
    "ClusterRole": 13,
    "ClusterRoleBinding": 7,
    "Service": 1,
    "DaemonSet": 6,
    "Deployment": 2,
}
_NAMESPACES = ("kubeflow", "aws-hyperpod", "mpi-operator")
_CRDS_IN_CRDS = 5
_SUBCHARTS = 9
_SUBCHARTS_OFF = 8
_FIELDS_A_SCHEMA = 1500
"""Makes 250 KB of compact JSON."""


def write_chart(folder: Path, version: str) -> None:
    """Write the chart `large` into a folder.

    The version goes into every image, and its first number into the CRDs' schemas.
    """
    chart = folder / NAME
    names = [f"part-{number}" for number in range(_SUBCHARTS)]
    off = [f"off-{number}" for number in range(_SUBCHARTS_OFF)]
    dependencies = [
        {
            "name": name,
            "version": "0.1.0",
            "repository": f"file://charts/{name}",
            "condition": f"{name}.enabled",
        }
        for name in [*names, *off]
    ]
    about = {"apiVersion": "v2", "name": NAME, "version": version}
    _write(chart / "Chart.yaml", {**about, "dependencies": dependencies})
    _write(chart / "values.yaml", {name: {"enabled": False} for name in off})
    for name in [*names, *off]:
        part = chart / "charts" / name
        _write(part / "Chart.yaml", {"apiVersion": "v2", "name": name, "version": "0.1.0"})
        _write(part / "values.yaml", {"replicas": 1})
    for name in off:
        _write(chart / "charts" / name / "templates" / "crd.yaml", _definition(name, version))
    for number in range(_CRDS_IN_CRDS):
        definition = _definition(f"job{number}", version)
        _write(chart / "charts" / names[0] / "crds" / f"{number}.yaml", definition)
    for number, item in enumerate(_objects(version)):
        part = chart / "charts" / names[number % _SUBCHARTS] / "templates"
        _write(part / f"{number}.yaml", item)


def _objects(version: str) -> list[dict[str, Any]]:
    objects = [_object("v1", "Namespace", name) for name in _NAMESPACES]
    objects.append(_definition("mpijob", version))
    for kind, count in _KINDS.items():
        objects += [_of_kind(kind, f"{kind.lower()}-{number}", version) for number in range(count)]
    return objects


def _of_kind(kind: str, name: str, version: str) -> dict[str, Any]:
    if kind == "ServiceAccount":
        return _object("v1", kind, name, "kubeflow")
    if kind == "Service":
        spec = {"selector": {"app": name}, "ports": [{"name": "metrics", "port": 8080}]}
        return {**_object("v1", kind, name, "kubeflow"), "spec": spec}
    if kind == "ClusterRole":
        rule = {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["get", "list"]}
        return {**_object("rbac.authorization.k8s.io/v1", kind, name), "rules": [rule]}
    if kind == "ClusterRoleBinding":
        group = "rbac.authorization.k8s.io"
        role = {"apiGroup": group, "kind": "ClusterRole", "name": "clusterrole-0"}
        subject = {"apiGroup": group, "kind": "User", "name": "hyperpod"}
        return {**_object(f"{group}/v1", kind, name), "roleRef": role, "subjects": [subject]}
    pod = {"containers": [{"name": "main", "image": f"registry.invalid/{name}:{version}"}]}
    spec = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
    }
    return {**_object("apps/v1", kind, name, "kubeflow"), "spec": spec}


def _object(api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _definition(singular: str, version: str) -> dict[str, Any]:
    major = version.partition(".")[0]
    fields = {
        f"field{number}": {
            "type": "string",
            "description": f"Field {number} of {singular} in {major}: what it sets, in one "
            "sentence as long as those of the schemas that generators write from Go types.",
        }
        for number in range(_FIELDS_A_SCHEMA)
    }
    plural, group = f"{singular}s", "kubeflow.org"
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"kind": singular.capitalize(), "plural": plural, "singular": singular},
        "versions": [served],
    }
    definition = _object("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}")
    return {**definition, "spec": spec}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1), "utf-8")  # JSON is YAML

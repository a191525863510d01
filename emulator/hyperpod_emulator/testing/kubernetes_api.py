"""A Kubernetes API with the real kubectl and helm in front of it."""

import base64
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import ApiClient, Configuration

from hyperpod_emulator.kubernetes import Grant, KubernetesApi, Principal, static_tokens
from hyperpod_emulator.testing.kubectl import tools
from hyperpod_emulator.testing.patience import PATIENCE_SECONDS

ADMIN = "admin-token"
NOBODY = "nobody-token"
VIEWER = "viewer-token"
EDITOR = "editor-token"
AUDITOR = "auditor-token"
UNKNOWN = "unknown-token"
PRINCIPALS = {
    ADMIN: Principal("admin", allowed=True),
    NOBODY: Principal("nobody"),
    VIEWER: Principal("viewer", grants=(Grant(policy="AmazonEKSViewPolicy"),)),
    EDITOR: Principal(
        "editor",
        grants=(
            Grant(policy="AmazonEKSEditPolicy", namespaces=("default", "team-*")),
            Grant(policy="AmazonSagemakerHyperpodTrainingPolicy", namespaces=("default",)),
        ),
    ),
    AUDITOR: Principal("auditor", grants=(Grant(policy="AmazonEKSAdminViewPolicy"),)),
}


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did."""

    ok: bool
    out: str
    error: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running API and the command lines that talk to it."""

    api: KubernetesApi
    home: Path

    def kubectl(self, *arguments: str, stdin: object = None, token: str = ADMIN) -> str:
        """Run kubectl, which must succeed, and return its output."""
        done = self.try_kubectl(*arguments, stdin=stdin, token=token)
        assert done.ok, done.error
        return done.out

    def try_kubectl(self, *arguments: str, stdin: object = None, token: str = ADMIN) -> Done:
        """Run kubectl; `stdin` is an object, or a list of objects, that goes in as YAML."""
        return self._run(tools() / "kubectl" / "kubectl", arguments, stdin=stdin, token=token)

    def helm(self, *arguments: str) -> str:
        """Run helm, which must succeed, and return its output."""
        done = self.try_helm(*arguments)
        assert done.ok, done.error
        return done.out

    def try_helm(self, *arguments: str, token: str = ADMIN) -> Done:
        """Run helm."""
        return self._run(tools() / "helm" / "helm", arguments, stdin=None, token=token)

    def watched(self, *arguments: str, lines: int) -> list[str]:
        """Run a kubectl that does not end, and return its first lines."""
        with subprocess.Popen(
            [tools() / "kubectl" / "kubectl", *arguments],
            env=self._environment(ADMIN),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            seen = [process.stdout.readline() for _ in range(lines)]
            process.kill()
        return seen

    def _run(self, binary: Path, arguments: tuple[str, ...], *, stdin: object, token: str) -> Done:
        done = subprocess.run(
            [binary, *arguments],
            env=self._environment(token),
            input=None if stdin is None else _documents(stdin),
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Done(done.returncode == 0, done.stdout, done.stderr)

    def _environment(self, token: str) -> dict[str, str]:
        # Collecting garbage is a sixth of the work of a command this short.
        return {"KUBECONFIG": str(self._kubeconfig(token)), "HOME": str(self.home), "GOGC": "off"}

    def _kubeconfig(self, token: str) -> Path:
        path = self.home / f"{token or 'anonymous'}-{self.api.url.rpartition(':')[2]}.yaml"
        if not path.exists():
            path.write_text(yaml.safe_dump(self._configuration(token)))
        return path

    def _configuration(self, token: str) -> dict[str, Any]:
        authority = base64.b64encode(self.api.ca_pem.encode()).decode()
        cluster = {"server": self.api.url, "certificate-authority-data": authority}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": token} if token else {}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }


@contextmanager
def running_cluster(home: Path) -> Iterator[Cluster]:
    """Run an API; kubectl and helm keep their caches under `home`."""
    with KubernetesApi(authenticate=static_tokens(PRINCIPALS)) as api:
        yield Cluster(api, home)


def _documents(value: object) -> str:
    return yaml.safe_dump_all(value if isinstance(value, list) else [value])


@contextmanager
def client_of(api: KubernetesApi, folder: Path) -> Iterator[ApiClient]:
    """Yield a client of an API, which an administrator has; its CA's file is in a folder."""
    authority = folder / "ca.pem"
    authority.write_text(api.ca_pem)
    configuration = Configuration(host=api.url)
    configuration.api_key = {"authorization": f"Bearer {ADMIN}"}
    configuration.ssl_ca_cert = str(authority)
    with ApiClient(configuration) as client:
        yield client


def pod(
    name: str, *, labels: dict[str, str] | None = None, devices: str = "", **spec: Any
) -> dict[str, Any]:
    """Return a pod, maybe with so many GPUs; further arguments are fields of its spec."""
    container: dict[str, Any] = {"name": "main", "image": "registry.invalid/main:1"}
    if devices:
        container["resources"] = {"limits": {"nvidia.com/gpu": devices}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def config_map(name: str, *, namespace: str = "default", **data: str) -> dict[str, Any]:
    """Return a ConfigMap."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def claim(name: str = "fsx-claim", **spec: Any) -> dict[str, Any]:
    """Return a claim of a file system, in the namespace `default`."""
    size = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name, "namespace": "default"}
    body = {"metadata": metadata, "spec": {**size, **spec}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **body}


def deployment(name: str, *, namespace: str = "default", **spec: Any) -> dict[str, Any]:
    """Return a Deployment; further arguments are fields of its spec."""
    return _workload("Deployment", name, namespace, {"replicas": 2, **spec})


def daemon_set(name: str, *, namespace: str = "default", **pod: Any) -> dict[str, Any]:
    """Return a DaemonSet; further arguments are fields of its pods' spec."""
    item = _workload("DaemonSet", name, namespace, {})
    item["spec"]["template"]["spec"] |= pod
    return item


def _workload(kind: str, name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "registry.invalid/main:1"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def definition(plural: str = "gadgets", kind: str = "Gadget") -> dict[str, Any]:
    """Return a CustomResourceDefinition with a few rules."""
    spec = {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "port": {"x-kubernetes-int-or-string": True},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "parts": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
                },
            },
        },
    }
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "State", "type": "string", "jsonPath": ".status.conditions[-1:].type"},
        ],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "shortNames": [kind[:3].lower()]},
            "versions": [version],
        },
    }


def gadget(name: str, **spec: Any) -> dict[str, Any]:
    """Return a custom object of `definition()`."""
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": metadata, "spec": spec}

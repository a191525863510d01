"""What EKS does in a cluster's Kubernetes: it installs add-ons, and looks whether pods are ready.

Like EKS, it uses server-side apply:
https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-field-management.html
"""

import base64
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Any

import yaml

from hyperpod_emulator.aws.eks.addon_objects import (
    INFERENCE,
    METRICS,
    NAMESPACE,
    SPACES,
    TRAINING_OPERATOR,
    Object,
    csi_driver,
    objects_of,
)
from hyperpod_emulator.aws.settings import own_settings

NODE_GROUP = "eks.amazonaws.com/nodegroup"
"""The label by which EKS knows its nodes."""
_WEBHOOK = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "cert-manager-webhook", "namespace": "cert-manager"},
}
_GUIDE = " and see the troubleshooting guide for more information."
_MANAGER = "eks"
_PLURALS = {
    "CSIDriver": "csidrivers",
    "CustomResourceDefinition": "customresourcedefinitions",
    "DaemonSet": "daemonsets",
    "Deployment": "deployments",
    "Namespace": "namespaces",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
}
_WORKLOADS = ("DaemonSet", "Deployment")
_SECONDS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonManager:
    """The part of EKS that has a hand in a cluster's Kubernetes.

    Attributes:
        ca: Base64 of the PEM certificate authority of that endpoint.
    """

    endpoint: str
    ca: str
    token: str = field(repr=False)

    def ready_nodes(self, group: str) -> int:
        """Count the nodes of a node group that are ready."""
        found = self._call("GET", f"/api/v1/nodes?labelSelector={NODE_GROUP}%3D{group}")
        return sum(
            condition["type"] == "Ready" and condition["status"] == "True"
            for node in (found or {}).get("items", ())
            for condition in node["status"]["conditions"]
        )

    def install(self, addon_name: str, *, version: str, region: str, values: str = "") -> None:
        """Make or change the objects of an add-on, with images of its version from a region.

        `values` are the add-on's configuration values, in JSON or YAML.
        """
        wanted = objects_of(
            addon_name, version=version, region=region, values=yaml.safe_load(values or "{}")
        )
        names = {item["metadata"].get("namespace", NAMESPACE) for item in wanted}
        namespaces = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            for name in sorted(names)
        ]
        for item in (*namespaces, *wanted):
            self._call("PATCH", f"{_path(item)}?fieldManager={_MANAGER}&force=true", item)

    def remove(self, addon_name: str) -> None:
        """Delete the objects of an add-on, but no namespace; those that are gone are none."""
        for item in objects_of(addon_name, version="", region=""):
            self._call("DELETE", _path(item))

    def lacks_webhook(self, addon_name: str) -> bool:
        """Say whether an add-on has a certificate, and cert-manager no webhook that judges it.

        Kubernetes then refuses the certificate, no matter who installed cert-manager.
        """
        if addon_name not in (TRAINING_OPERATOR, SPACES, INFERENCE):
            return False
        webhook = self._call("GET", _path(_WEBHOOK))
        return webhook is None or not _has_its_pods(webhook)

    def lacks_dependency(self, addon_name: str) -> str | None:
        """Return what the inference operator says of a dependency that is not there, if of any.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-ts-cli.html
        """
        if addon_name != INFERENCE:
            return None
        for title, driver in (("S3", "s3.csi.aws.com"), ("FSx", "fsx.csi.aws.com")):
            if self._call("GET", _path(csi_driver(driver))) is None:
                return (
                    f"{title} CSI driver not installed (missing CSIDriver {driver}). Please "
                    f"install the required CSI driver{_GUIDE}"
                )
        if self._call("GET", _path(_WEBHOOK)) is None:
            return (
                "Missing required CRD: certificaterequests.cert-manager.io. The cert-manager "
                f"add-on is not installed. Please install cert-manager{_GUIDE}"
            )
        return None

    def lacks_node(self, addon_name: str) -> bool:
        """Say whether an add-on that needs a node first has none."""
        if addon_name != METRICS:
            return False
        found = self._call("GET", "/api/v1/nodes")
        return not (found or {}).get("items")

    def is_healthy(self, addon_name: str) -> bool:
        """Say whether all workloads of an add-on are there, and all their pods ready."""
        return all(self._healthy(addon_name))

    def _healthy(self, addon_name: str) -> Iterator[bool]:
        for item in objects_of(addon_name, version="", region=""):
            if item["kind"] in _WORKLOADS:
                found = self._call("GET", _path(item))
                yield found is not None and _has_its_pods(found)

    def _call(self, method: str, path: str, body: Object | None = None) -> Object | None:
        """Return the answer; None if there is no such object."""
        # The URL is the emulator's own, on the loopback interface.
        request = urllib.request.Request(  # noqa: S310
            f"{self.endpoint}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/apply-patch+yaml",
            },
        )
        context = ssl.create_default_context(cadata=base64.b64decode(self.ca).decode())
        # As emulator/hyperpod_emulator/background_server.py says.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        try:
            with urllib.request.urlopen(  # noqa: S310
                request, timeout=_SECONDS, context=context
            ) as answer:
                found: Object = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            return None
        return found


@cache
def addon_manager() -> AddonManager | None:
    """Return the one of this AWS; None without a Kubernetes API."""
    own = own_settings()
    if not own.kubernetes_token:
        return None
    return AddonManager(
        endpoint=own.kubernetes_endpoint, ca=own.kubernetes_ca, token=own.kubernetes_token
    )


def _path(item: Mapping[str, Any]) -> str:
    metadata, version = item["metadata"], item["apiVersion"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    place = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{place}/{_PLURALS[item['kind']]}/{metadata['name']}"


def _has_its_pods(workload: Object) -> bool:
    status = workload.get("status") or {}
    if workload["kind"] == "DaemonSet":
        return bool(status.get("numberReady", 0) >= status.get("desiredNumberScheduled", 0))
    return bool(status.get("readyReplicas", 0) >= workload["spec"]["replicas"])

"""Puts the objects of add-ons into Kubernetes, and sees whether their pods are ready.

As EKS does, by server-side apply:
https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-field-management.html
"""

import base64
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from emulator.aws.eks.addon_objects import Object, objects_of

_MANAGER = "eks"
_PLURALS = {
    "CSIDriver": "csidrivers",
    "DaemonSet": "daemonsets",
    "Deployment": "deployments",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
}
_WORKLOADS = ("DaemonSet", "Deployment")
_SECONDS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonManager:
    """The part of EKS that has a hand in a cluster's Kubernetes.

    Attributes:
        endpoint: URL of the Kubernetes API.
        ca: Base64 of the PEM certificate authority of that endpoint.
        token: Bearer token of EKS.
    """

    endpoint: str
    ca: str
    token: str = field(repr=False)

    def install(self, addon_name: str, *, version: str, region: str) -> None:
        """Make or change the objects of an add-on.

        Args:
            addon_name: Its name.
            version: The version of its images.
            region: Where its images are.
        """
        for item in objects_of(addon_name, version=version, region=region):
            self._call("PATCH", f"{_path(item)}?fieldManager={_MANAGER}&force=true", item)

    def remove(self, addon_name: str) -> None:
        """Delete the objects of an add-on; those that are gone are none."""
        for item in objects_of(addon_name, version="", region=""):
            self._call("DELETE", _path(item))

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
        # As emulator/kubernetes/server/certificates.py says.
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

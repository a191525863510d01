"""The pods on nodes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kubernetes.client import ApiClient, CoreV1Api

_FINISHED = ("Succeeded", "Failed")
_MIRROR = "kubernetes.io/config.mirror"


def pods_on(api: ApiClient, node: str) -> list[str]:
    """Return the pods that a node's users lose with it, as `<namespace>/<name>`.

    Pods of DaemonSets and of the kubelet come back with the node.

    Args:
        api: Client of the Kubernetes API.
        node: Name of the Node.

    Raises:
        ApiException: Kubernetes refused to say.
        HTTPError: Kubernetes cannot be reached.
    """
    answer = CoreV1Api(api).list_pod_for_all_namespaces(
        field_selector=f"spec.nodeName={node}", _preload_content=False
    )
    found: Sequence[Mapping[str, Any]] = json.loads(answer.data)["items"]
    return sorted(
        f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        for item in found
        if _is_users(item)
    )


def _is_users(item: Mapping[str, Any]) -> bool:
    metadata = item["metadata"]
    owners = {owner["kind"] for owner in metadata.get("ownerReferences") or ()}
    return (
        (item.get("status") or {}).get("phase") not in _FINISHED
        and "DaemonSet" not in owners
        and _MIRROR not in (metadata.get("annotations") or {})
    )

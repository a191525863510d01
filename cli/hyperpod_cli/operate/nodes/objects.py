"""The Node objects of a HyperPod cluster in Kubernetes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubernetes.client import ApiClient, CoreV1Api

from hyperpod_shared.clusters import CLUSTER_LABEL

GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
"""HyperPod's label with the instance group of a Node."""
_PAGE = 500


def node_objects(api: ApiClient, *, cluster: str) -> Iterator[Mapping[str, Any]]:
    """Yield the Node objects of a HyperPod cluster, as the API has them; others are left out.

    Args:
        api: Client of the Kubernetes API.
        cluster: Name of the HyperPod cluster.

    Raises:
        ApiException: Kubernetes refused to say.
        HTTPError: Kubernetes cannot be reached.
    """
    core = CoreV1Api(api)
    asked: dict[str, str] = {}
    while True:
        # As JSON: the client's models of 1,000 nodes take seconds.
        answer = core.list_node(
            label_selector=f"{CLUSTER_LABEL}={cluster}",
            limit=_PAGE,
            _preload_content=False,
            **asked,
        )
        page = json.loads(answer.data)
        yield from page["items"]
        following = page["metadata"].get("continue")
        if not following:
            return
        asked = {"_continue": following}


def labels_of(item: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object.

    Args:
        item: The object, as the API has it.
    """
    return item["metadata"].get("labels") or {}


def is_ready(item: Mapping[str, Any]) -> bool:
    """Say whether the kubelet of a node says that it takes pods.

    Args:
        item: The Node object, as the API has it.
    """
    conditions = (item.get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


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

"""What an archive has of Kubernetes besides pods: nodes of EKS, Helm releases and claims."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kubernetes.client import ApiClient, CoreV1Api

from hyperpod_cli.inspect.archive.deployment import ArchivedNode
from hyperpod_cli.operate.nodes.health import NODE_GROUP_LABEL, is_ready, labelled_nodes, labels_of

# Names, versions and labels, and no contents, which are of Secrets here.
# https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
_METADATA_ALONE = (
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)


def helm_releases(api: ApiClient) -> list[Mapping[str, Any]]:
    """Return the Helm releases by namespace and name, with revision and status."""
    answer = api.call_api(
        "/api/v1/secrets",
        "GET",
        query_params=[("labelSelector", "owner=helm")],
        header_params={"Accept": _METADATA_ALONE},
        auth_settings=["BearerToken"],
        _preload_content=False,
        _return_http_data_only=True,
    )
    items: Sequence[Mapping[str, Any]] = json.loads(answer.data)["items"]
    releases: dict[tuple[str, str], dict[str, Any]] = {}
    for metadata in (item["metadata"] for item in items):
        labels = metadata.get("labels") or {}
        key = (str(metadata["namespace"]), str(labels.get("name")))
        revision = int(labels.get("version", 0))
        if revision >= releases.get(key, {}).get("revision", 0):
            releases[key] = {
                "namespace": key[0],
                "name": key[1],
                "revision": revision,
                "status": labels.get("status"),
            }
    return [releases[key] for key in sorted(releases)]


def managed_nodes(api: ApiClient) -> list[ArchivedNode]:
    """Return the nodes of EKS node groups, without their pods.

    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """
    nodes = map(managed_node, labelled_nodes(api, NODE_GROUP_LABEL))
    return sorted(nodes, key=lambda node: node.id)


def managed_node(item: Mapping[str, Any]) -> ArchivedNode:
    """Return the node that is a Node object of an EKS node group."""
    labels = labels_of(item)
    return ArchivedNode(
        id=item["metadata"]["name"],
        group=labels[NODE_GROUP_LABEL],
        instance_type=labels.get("node.kubernetes.io/instance-type", ""),
        status="Ready" if is_ready(item) else "NotReady",
    )


def claims(api: ApiClient) -> list[Mapping[str, Any]]:
    """Return the volume claims by namespace and name."""
    answer = CoreV1Api(api).list_persistent_volume_claim_for_all_namespaces(_preload_content=False)
    items: Sequence[Mapping[str, Any]] = json.loads(answer.data)["items"]
    claims = [
        {
            "namespace": item["metadata"]["namespace"],
            "name": item["metadata"]["name"],
            "volume": item["spec"].get("volumeName"),
            "class": item["spec"].get("storageClassName"),
            "phase": (item.get("status") or {}).get("phase"),
            "size": ((item["spec"].get("resources") or {}).get("requests") or {}).get("storage"),
        }
        for item in items
    ]
    return sorted(claims, key=lambda claim: (claim["namespace"], claim["name"]))

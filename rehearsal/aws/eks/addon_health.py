"""Add-ons of versions that EKS offers, as healthy as the nodes there are let them be.

The pods of some add-ons need nodes. Without any, such an add-on stays CREATING or UPDATING for 15
to 20 minutes and is DEGRADED from then on, until there are nodes:
https://github.com/aws-ia/terraform-aws-eks-blueprints/issues/642,
https://github.com/pulumi/pulumi-eks/issues/1525,
https://github.com/kubernetes-sigs/cluster-api-provider-aws/pull/5269.
"""

import asyncio
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from ministack.services import eks

from rehearsal.aws.eks import addon_versions
from rehearsal.aws.eks.api import EksResponse
from rehearsal.aws.hyperpod_client import HyperPodClient
from rehearsal.aws.parent_process import Settings

PATIENCE_SECONDS = 4.0
"""How long an add-on stays CREATING or UPDATING without nodes: as long as the first node takes."""
_WITHOUT_NODES = {"vpc-cni", "kube-proxy", "eks-pod-identity-agent"}
# https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
_ISSUE = {
    "code": "InsufficientNumberOfReplicas",
    "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.",
    "resourceIds": [],
}


def install(*, settings: Settings) -> None:
    """Check the versions of add-ons, and let their status follow the nodes."""
    client = HyperPodClient(url=settings.hyperpod_api, headers={})
    created, described, updated = eks._create_addon, eks._describe_addon, eks._update_addon

    def create(cluster_name: str, body: dict[str, Any]) -> EksResponse:
        refusal = _refusal(cluster_name, body, addon_name=body.get("addonName", ""))
        if refusal is not None:
            return refusal
        response: EksResponse = created(cluster_name, body)
        if response[0] >= HTTPStatus.BAD_REQUEST:
            return response
        addon = eks._addons[f"{cluster_name}/{body['addonName']}"]
        if not addon["addonVersion"]:
            addon["addonVersion"] = addon_versions.default(
                addon["addonName"], kubernetes_version=eks._clusters[cluster_name]["version"]
            )
        addon["status"] = "CREATING"
        return describe(cluster_name, addon["addonName"])

    def update(cluster_name: str, addon_name: str, body: dict[str, Any]) -> EksResponse:
        refusal = _refusal(cluster_name, body, addon_name=addon_name)
        if refusal is not None:
            return refusal
        response: EksResponse = updated(cluster_name, addon_name, body)
        if response[0] < HTTPStatus.BAD_REQUEST:
            eks._addons[f"{cluster_name}/{addon_name}"]["status"] = "UPDATING"
        return response

    def describe(cluster_name: str, addon_name: str) -> EksResponse:
        addon = eks._addons.get(f"{cluster_name}/{addon_name}")
        if addon is not None:
            healthy = addon_name in _WITHOUT_NODES or asyncio.run(
                _has_nodes(client, eks_cluster_arn=eks._clusters[cluster_name]["arn"])
            )
            if healthy:
                addon["status"] = "ACTIVE"
            elif addon["status"] == "ACTIVE" or _waited(addon):
                addon["status"] = "DEGRADED"
            addon["health"] = {"issues": [] if healthy else [_ISSUE]}
        response: EksResponse = described(cluster_name, addon_name)
        return response

    eks._create_addon, eks._describe_addon, eks._update_addon = create, describe, update


def _refusal(cluster_name: str, body: Mapping[str, Any], *, addon_name: str) -> EksResponse | None:
    cluster = eks._clusters.get(cluster_name)
    problem = (
        None
        if cluster is None
        else addon_versions.problem(
            body, addon_name=addon_name, kubernetes_version=cluster["version"]
        )
    )
    if problem is None:
        return None
    refusal: EksResponse = eks._error(HTTPStatus.BAD_REQUEST, "InvalidParameterException", problem)
    return refusal


def _waited(addon: Mapping[str, Any]) -> bool:
    return time.time() - float(addon["modifiedAt"]) >= PATIENCE_SECONDS


async def _has_nodes(client: HyperPodClient, *, eks_cluster_arn: str) -> bool:
    """Return whether HyperPod has put a node into an EKS cluster."""
    if not client.url:
        return False
    listed = await client.call("ListClusters", {}) or {}
    for summary in listed.get("ClusterSummaries", ()):
        name = {"ClusterName": summary["ClusterName"]}
        nodes = await client.call("ListClusterNodes", name) or {}
        if not any(map(_runs, nodes.get("ClusterNodeSummaries", ()))):
            continue
        # Not before there is a node: scenarios count these calls. The cluster may be gone by now.
        cluster = await client.call("DescribeCluster", name) or {}
        if cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn") == eks_cluster_arn:
            return True
    return False


def _runs(node: Mapping[str, Any]) -> bool:
    return bool(node["InstanceStatus"]["Status"] == "Running")

"""Add-ons of versions that EKS offers, as healthy as their pods in Kubernetes.

The pods of some add-ons need nodes. Without any, such an add-on stays CREATING or UPDATING for 15
to 20 minutes and is DEGRADED from then on, until there are nodes:
https://github.com/aws-ia/terraform-aws-eks-blueprints/issues/642,
https://github.com/pulumi/pulumi-eks/issues/1525,
https://github.com/kubernetes-sigs/cluster-api-provider-aws/pull/5269.
"""

import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.eks import addon_versions
from emulator.aws.eks.addon_manager import AddonManager
from emulator.aws.eks.api import EksResponse
from emulator.aws.ministack import eks, get_region
from emulator.aws.parent_process import Settings

PATIENCE_SECONDS = 4.0
"""How long an add-on stays CREATING or UPDATING without nodes: as long as the first node takes."""
# https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
_ISSUE = {
    "code": "InsufficientNumberOfReplicas",
    "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.",
    "resourceIds": [],
}


def install(*, settings: Settings) -> None:
    """Check the versions of add-ons, and let their status follow their pods.

    Without a Kubernetes API there are no pods, and every add-on is healthy.
    """
    manager = (
        AddonManager(
            endpoint=settings.kubernetes_endpoint,
            ca=settings.kubernetes_ca,
            token=settings.kubernetes_token,
        )
        if settings.kubernetes_token
        else None
    )
    created, described = eks.create_addon, eks.describe_addon
    updated, deleted = eks.update_addon, eks.delete_addon

    def put(addon: Mapping[str, Any]) -> None:
        if manager is not None:
            name, version = addon["addonName"], addon["addonVersion"]
            manager.install(name, version=version, region=get_region())

    def create(cluster_name: str, body: dict[str, Any]) -> EksResponse:
        refusal = _refusal(cluster_name, body, addon_name=body.get("addonName", ""))
        if refusal is not None:
            return refusal
        response: EksResponse = created(cluster_name, body)
        if response[0] >= HTTPStatus.BAD_REQUEST:
            return response
        addon = eks.addons[f"{cluster_name}/{body['addonName']}"]
        if not addon["addonVersion"]:
            addon["addonVersion"] = addon_versions.default(
                addon["addonName"], kubernetes_version=eks.clusters[cluster_name]["version"]
            )
        put(addon)
        addon["status"] = "CREATING"
        return describe(cluster_name, addon["addonName"])

    def update(cluster_name: str, addon_name: str, body: dict[str, Any]) -> EksResponse:
        refusal = _refusal(cluster_name, body, addon_name=addon_name)
        if refusal is not None:
            return refusal
        response: EksResponse = updated(cluster_name, addon_name, body)
        if response[0] < HTTPStatus.BAD_REQUEST:
            addon = eks.addons[f"{cluster_name}/{addon_name}"]
            put(addon)
            addon["status"] = "UPDATING"
        return response

    def describe(cluster_name: str, addon_name: str) -> EksResponse:
        addon = eks.addons.get(f"{cluster_name}/{addon_name}")
        if addon is not None:
            healthy = manager is None or manager.is_healthy(addon_name)
            if healthy:
                addon["status"] = "ACTIVE"
            elif addon["status"] == "ACTIVE" or _waited(addon):
                addon["status"] = "DEGRADED"
            addon["health"] = {"issues": [] if healthy else [_ISSUE]}
        response: EksResponse = described(cluster_name, addon_name)
        return response

    def delete(cluster_name: str, addon_name: str) -> EksResponse:
        response: EksResponse = deleted(cluster_name, addon_name)
        if manager is not None and response[0] < HTTPStatus.BAD_REQUEST:
            manager.remove(addon_name)
        return response

    eks.create_addon, eks.describe_addon = create, describe
    eks.update_addon, eks.delete_addon = update, delete


def _refusal(cluster_name: str, body: Mapping[str, Any], *, addon_name: str) -> EksResponse | None:
    cluster = eks.clusters.get(cluster_name)
    problem = (
        None
        if cluster is None
        else addon_versions.problem(
            body, addon_name=addon_name, kubernetes_version=cluster["version"]
        )
    )
    if problem is None:
        return None
    refusal: EksResponse = eks.error(HTTPStatus.BAD_REQUEST, "InvalidParameterException", problem)
    return refusal


def _waited(addon: Mapping[str, Any]) -> bool:
    return time.time() - float(addon["modifiedAt"]) >= PATIENCE_SECONDS

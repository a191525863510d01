"""Add-ons of versions that EKS offers, as healthy as their pods in Kubernetes.

The pods of some add-ons need nodes. Without any, such an add-on stays CREATING or UPDATING for 15
to 20 minutes and is DEGRADED from then on, until there are nodes:
https://github.com/aws-ia/terraform-aws-eks-blueprints/issues/642,
https://github.com/pulumi/pulumi-eks/issues/1525,
https://github.com/kubernetes-sigs/cluster-api-provider-aws/pull/5269.
"""

from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from ministack.core.responses import get_region
from ministack.services import eks

from rehearsal.aws.eks import addon_versions
from rehearsal.aws.eks.addon_manager import AddonManager
from rehearsal.aws.eks.api import EksResponse
from rehearsal.aws.parent_process import Settings

LOOKS = 20
"""How often an add-on without nodes is seen CREATING or UPDATING: until the first node is there.

CloudFormation looks five times a second; a slow machine takes longer for the node and for these.
"""
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
    looks: Counter[str] = Counter()
    created, described = eks._create_addon, eks._describe_addon
    updated, deleted = eks._update_addon, eks._delete_addon

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
        addon = eks._addons[f"{cluster_name}/{body['addonName']}"]
        if not addon["addonVersion"]:
            addon["addonVersion"] = addon_versions.default(
                addon["addonName"], kubernetes_version=eks._clusters[cluster_name]["version"]
            )
        put(addon)
        addon["status"] = "CREATING"
        looks[addon["addonArn"]] = 0
        return describe(cluster_name, addon["addonName"])

    def update(cluster_name: str, addon_name: str, body: dict[str, Any]) -> EksResponse:
        refusal = _refusal(cluster_name, body, addon_name=addon_name)
        if refusal is not None:
            return refusal
        response: EksResponse = updated(cluster_name, addon_name, body)
        if response[0] < HTTPStatus.BAD_REQUEST:
            addon = eks._addons[f"{cluster_name}/{addon_name}"]
            put(addon)
            addon["status"] = "UPDATING"
            looks[addon["addonArn"]] = 0
        return response

    def describe(cluster_name: str, addon_name: str) -> EksResponse:
        addon = eks._addons.get(f"{cluster_name}/{addon_name}")
        if addon is not None:
            healthy = manager is None or manager.is_healthy(addon_name)
            looks[addon["addonArn"]] += 1
            if healthy:
                addon["status"] = "ACTIVE"
            elif addon["status"] == "ACTIVE" or looks[addon["addonArn"]] > LOOKS:
                addon["status"] = "DEGRADED"
            addon["health"] = {"issues": [] if healthy else [_ISSUE]}
        response: EksResponse = described(cluster_name, addon_name)
        return response

    def delete(cluster_name: str, addon_name: str) -> EksResponse:
        response: EksResponse = deleted(cluster_name, addon_name)
        if manager is not None and response[0] < HTTPStatus.BAD_REQUEST:
            manager.remove(addon_name)
        return response

    eks._create_addon, eks._describe_addon = create, describe
    eks._update_addon, eks._delete_addon = update, delete


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

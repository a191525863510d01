"""Add-ons of a cluster: their resource type, and their health.

CloudFormation takes an add-on that is DEGRADED as done:
https://github.com/hashicorp/terraform-provider-aws/issues/44669. The pods of some need nodes.
Without any, such an add-on stays CREATING or UPDATING for 15 to 20 minutes and is DEGRADED from
then on, until there are nodes: https://github.com/aws-ia/terraform-aws-eks-blueprints/issues/642,
https://github.com/pulumi/pulumi-eks/issues/1525,
https://github.com/kubernetes-sigs/cluster-api-provider-aws/pull/5269.

The add-ons of the training operator and of Spaces bring a certificate, which Kubernetes refuses
while no pod of cert-manager's webhook runs:
https://github.com/cert-manager/cert-manager/issues/5483. How often EKS tries again, AWS does not
say: here it gives up at once, the worst of what it may do.

The inference operator looks for two CSI drivers and cert-manager, and its add-on fails without:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-ts-cli.html.

HyperPod's observability add-on wants a node before it is installed, and pods that get their role
by the Pod Identity Agent: https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html.
What it does without a node is not said: here it fails at once. Without the agent, it and
CloudWatch's are unhealthy:
https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-troubleshooting.html.

An update that EKS gives up is `Failed`, and the add-on keeps what it was updated to:
https://github.com/hashicorp/terraform-provider-aws/pull/49104. CloudFormation may look at it, as
the handler's permissions say (`DescribeUpdate`); what it does then is not known. Here it takes it
for a failure, and its rollback asks for the former version: the worse of the two.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    boolean,
    tag_map,
)
from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.eks.addon_manager import AddonManager, addon_manager
from hyperpod_emulator.aws.eks.addon_objects import CLOUDWATCH, METRICS, TRAINING_OPERATOR
from hyperpod_emulator.aws.eks.addon_versions import default, version_problem
from hyperpod_emulator.aws.ministack import Response, eks, get_region, provisioners, stacks, wrap
from hyperpod_emulator.aws.refused import Refused

# Announces no rights in DescribeAddonVersions, and is the default.
# https://github.com/awslabs/awsome-distributed-ai/issues/1075
_NO_IDENTITY = "v1.2.1-eksbuild.1"


# Whether what the add-on has put into Kubernetes stays, when it is deleted.
# https://docs.aws.amazon.com/eks/latest/APIReference/API_DeleteAddon.html
_PRESERVE = "_preserve"
_UNSETTLED = ("CREATING", "UPDATING")
_PAUSE_SECONDS = 0.2
_UPDATABLE = {
    "AddonVersion": "addonVersion",
    "ConfigurationValues": "configurationValues",
    "ServiceAccountRoleArn": "serviceAccountRoleArn",
}


def _fields(properties: Properties) -> dict[str, Any]:
    fields = {api: properties[name] for name, api in _UPDATABLE.items() if properties.get(name)}
    associations = properties.get("PodIdentityAssociations") or []
    return {**fields, "podIdentityAssociations": provisioners._pascal_to_camel(associations)}


def _settled(properties: Properties) -> Created:
    cluster, name = properties["ClusterName"], properties["AddonName"]
    while (addon := _described(cluster, name))["status"] in _UNSETTLED:
        time.sleep(_PAUSE_SECONDS)
    if addon["status"] == _FAILED:
        issues = "; ".join(
            f"{each['code']}: {each['message']}" for each in addon["health"]["issues"]
        )
        raise Refused(f"NotStabilized: Add-on {name} is {_FAILED}: {issues}")
    return f"{cluster}|{name}", {"Arn": eks._addons[f"{cluster}/{name}"]["addonArn"]}


def _described(cluster_name: str, addon_name: str) -> dict[str, Any]:
    addon: dict[str, Any] = eks_api.answer(eks._describe_addon(cluster_name, addon_name))["addon"]
    return addon


def _create(properties: Properties) -> Created:
    body = {
        "addonName": properties["AddonName"],
        "tags": tag_map(properties),
        **_fields(properties),
    }
    eks_api.answer(eks._create_addon(properties["ClusterName"], body))
    try:
        return _settled(properties)
    except Refused:
        # As CloudFormation's rollback does: it knows the add-on by now.
        _delete("", properties)
        raise


def _update(_physical_id: str, old: Properties, new: Properties) -> Created:
    cluster, name = new["ClusterName"], new["AddonName"]
    addon = eks._addons[f"{cluster}/{name}"]
    addon["tags"] = eks._tags[addon["addonArn"]] = tag_map(new)
    if _fields(old) == _fields(new):
        return _settled(new)
    update = eks_api.answer(eks._update_addon(cluster, name, _fields(new)))["update"]
    settled = _settled(new)
    update = eks_api.answer(describe_update(cluster, name, update["id"]))["update"]
    if update["status"] == "Failed":
        raise Refused(f"NotStabilized: Update {update['id']} of add-on {name} has failed.")
    return settled


_UPDATES: dict[str, dict[str, Any]] = {}


def describe_update(cluster_name: str, addon_name: str, identifier: str) -> Response:
    """Answer DescribeUpdate of an add-on."""
    update = _UPDATES.get(identifier)
    if update is None:
        return eks_api.no_update(identifier)
    addon = eks_api.answer(eks._describe_addon(cluster_name, addon_name))["addon"]
    if update["status"] == "InProgress" and addon["status"] != "UPDATING":
        update["status"] = "Successful" if addon["status"] == "ACTIVE" else "Failed"
    return eks_api.updating(update)


def _delete(_physical_id: str, properties: Properties) -> None:
    addon = eks._addons.get(f"{properties['ClusterName']}/{properties['AddonName']}")
    if addon is not None:
        addon[_PRESERVE] = boolean(properties.get("PreserveOnDelete", False))
    eks_api.gone_or_answer(eks._delete_addon(properties["ClusterName"], properties["AddonName"]))


ADDON = ResourceType(
    name="AWS::EKS::Addon",
    create=_create,
    update=_update,
    delete=_delete,
    waits=True,
)


_LOOKS = 20
"""How often an add-on without nodes is seen CREATING or UPDATING: until the first node is there.

CloudFormation looks five times a second; a slow machine takes longer for the node and for these.
"""
# https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
_ISSUE = {
    "code": "InsufficientNumberOfReplicas",
    "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.",
    "resourceIds": [],
}


_FAILED = "CREATE_FAILED"
_WEBHOOK = "cert-manager-webhook.cert-manager.svc"
_NO_WEBHOOK = {
    "code": "AdmissionRequestDenied",
    "message": 'Internal error occurred: failed calling webhook "webhook.cert-manager.io": failed '
    f'to call webhook: Post "https://{_WEBHOOK}:443/validate?timeout=30s": no endpoints available '
    'for service "cert-manager-webhook"',
    "resourceIds": [],
}


_AGENT = "eks-pod-identity-agent"
_NEEDING_AGENT = (CLOUDWATCH, METRICS)
_NO_NODE = {
    "code": "InsufficientNumberOfReplicas",
    "message": "The add-on is unhealthy because all deployments have no available replicas.",
    "resourceIds": [],
}
# https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
_NO_CREDENTIALS = {
    "code": "AddonPermissionFailure",
    "message": "The add-on is unhealthy: no EKS Pod Identity Agent gives its pods credentials.",
    "resourceIds": [],
}


def _put(addon: dict[str, Any], *, status: str, manager: AddonManager | None) -> None:
    """Install an add-on, or give it up."""
    name, version = addon["addonName"], addon["addonVersion"]
    lacking = None if manager is None else _lacking(manager, name)
    if lacking is not None:
        addon |= {"status": _FAILED, "health": {"issues": [lacking]}}
        return
    if manager is not None:
        values = addon.get("configurationValues") or ""
        manager.install(name, version=version, region=get_region(), values=values)
    addon["status"] = status


def _lacking(manager: AddonManager, addon_name: str) -> dict[str, Any] | None:
    """Return why EKS gives an add-on up at once, or None."""
    dependency = manager.lacks_dependency(addon_name)
    if dependency is not None:
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html
        return {"code": "K8sResourceNotFound", "message": dependency, "resourceIds": []}
    if manager.lacks_webhook(addon_name):
        return _NO_WEBHOOK
    return _NO_NODE if manager.lacks_node(addon_name) else None


def _has_role(cluster_name: str, addon_name: str) -> bool:
    return addon_name not in _NEEDING_AGENT or f"{cluster_name}/{_AGENT}" in eks._addons


def install() -> None:
    """Check the versions of add-ons, and let their status follow their pods.

    Without a Kubernetes API there are no pods, and every add-on is healthy.
    """
    manager = addon_manager()
    looks: Counter[str] = Counter()

    def put(addon: dict[str, Any], *, status: str) -> None:
        looks[addon["addonArn"]] = 0
        _put(addon, status=status, manager=manager)

    def create(
        created: Callable[..., Response], cluster_name: str, body: dict[str, Any]
    ) -> Response:
        refusal = _refusal(cluster_name, body, addon_name=body.get("addonName", ""))
        if refusal is not None:
            return refusal
        response = created(cluster_name, body)
        if response[0] >= HTTPStatus.BAD_REQUEST:
            return response
        addon = eks._addons[f"{cluster_name}/{body['addonName']}"]
        if not addon["addonVersion"]:
            addon["addonVersion"] = default(
                addon["addonName"], kubernetes_version=eks._clusters[cluster_name]["version"]
            )
        put(addon, status="CREATING")
        return eks._describe_addon(cluster_name, addon["addonName"])

    def update(
        updated: Callable[..., Response], cluster_name: str, addon_name: str, body: dict[str, Any]
    ) -> Response:
        refusal = _refusal(cluster_name, body, addon_name=addon_name)
        if refusal is not None:
            return refusal
        response = updated(cluster_name, addon_name, body)
        if response[0] < HTTPStatus.BAD_REQUEST:
            addon = eks._addons[f"{cluster_name}/{addon_name}"]
            put(addon, status="UPDATING")
            made = eks_api.answer(response)["update"]
            _UPDATES[made["id"]] = {**made, "status": "InProgress"}
            response = eks_api.updating(_UPDATES[made["id"]])
        return response

    def describe(
        described: Callable[..., Response], cluster_name: str, addon_name: str
    ) -> Response:
        addon = eks._addons.get(f"{cluster_name}/{addon_name}")
        if addon is not None and addon["status"] != _FAILED:
            has_role = _has_role(cluster_name, addon_name)
            healthy = has_role and (manager is None or manager.is_healthy(addon_name))
            looks[addon["addonArn"]] += 1
            if healthy:
                addon["status"] = "ACTIVE"
            elif addon["status"] == "ACTIVE" or looks[addon["addonArn"]] > _LOOKS:
                addon["status"] = "DEGRADED"
            issue = _ISSUE if has_role else _NO_CREDENTIALS
            addon["health"] = {"issues": [] if healthy else [issue]}
        return described(cluster_name, addon_name)

    def delete(deleted: Callable[..., Response], cluster_name: str, addon_name: str) -> Response:
        preserved = eks._addons.get(f"{cluster_name}/{addon_name}", {}).get(_PRESERVE)
        response = deleted(cluster_name, addon_name)
        if manager is not None and response[0] < HTTPStatus.BAD_REQUEST and not preserved:
            manager.remove(addon_name)
        return response

    wrap(
        stacks, "_sends_back_failed_update", lambda others, name: name == ADDON.name or others(name)
    )
    wrap(eks, "_create_addon", create)
    wrap(eks, "_describe_addon", describe)
    wrap(eks, "_update_addon", update)
    wrap(eks, "_delete_addon", delete)


def _refusal(cluster_name: str, body: Mapping[str, Any], *, addon_name: str) -> Response | None:
    cluster = eks._clusters.get(cluster_name)
    if cluster is None:
        return None
    problem = version_problem(body, addon_name=addon_name, kubernetes_version=cluster["version"])
    if addon_name == TRAINING_OPERATOR and body.get("podIdentityAssociations"):
        # Of an association for a version that announces none.
        version = body.get("addonVersion", _NO_IDENTITY)
        if version == _NO_IDENTITY and problem is None:
            problem = f"Pod Identity feature is not supported for addon version: {version}"
    return None if problem is None else eks_api.refusal(problem)

"""AWS::EKS::Addon, created and updated once EKS no longer says CREATING or UPDATING.

CloudFormation takes an add-on that is DEGRADED as done:
https://github.com/hashicorp/terraform-provider-aws/issues/44669
"""

import time
from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType, tag_map
from emulator.aws.eks import api as eks_api
from emulator.aws.ministack import eks, provisioners

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
    return {**fields, "podIdentityAssociations": provisioners.pascal_to_camel(associations)}


def _settled(properties: Properties) -> Created:
    cluster, name = properties["ClusterName"], properties["AddonName"]
    while eks_api.answer(eks.describe_addon(cluster, name))["addon"]["status"] in _UNSETTLED:
        time.sleep(_PAUSE_SECONDS)
    return f"{cluster}|{name}", {"Arn": eks.addons[f"{cluster}/{name}"]["addonArn"]}


def _create(properties: Properties) -> Created:
    body = {
        "addonName": properties["AddonName"],
        "tags": tag_map(properties),
        **_fields(properties),
    }
    eks_api.answer(eks.create_addon(properties["ClusterName"], body))
    return _settled(properties)


def _update(_physical_id: str, _old: Properties, new: Properties) -> Created:
    cluster, name = new["ClusterName"], new["AddonName"]
    eks_api.answer(eks.update_addon(cluster, name, _fields(new)))
    addon = eks.addons[f"{cluster}/{name}"]
    addon["tags"] = eks.tags[addon["addonArn"]] = tag_map(new)
    return _settled(new)


def _delete(_physical_id: str, properties: Properties) -> None:
    eks_api.gone_or_answer(eks.delete_addon(properties["ClusterName"], properties["AddonName"]))


TYPE = ResourceType(
    name="AWS::EKS::Addon",
    create=_create,
    update=_update,
    delete=_delete,
    waits=True,
)

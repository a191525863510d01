"""AWS::EKS::PodIdentityAssociation."""

from typing import Any

from emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    boolean,
    tag_map,
)
from emulator.aws.eks import api as eks_api
from emulator.aws.ministack import eks


def _fields(properties: Properties) -> dict[str, Any]:
    return {
        "roleArn": properties["RoleArn"],
        "targetRoleArn": properties.get("TargetRoleArn", ""),
        "disableSessionTags": boolean(properties.get("DisableSessionTags", False)),
    }


def _created(association: dict[str, Any]) -> Created:
    arn = association["associationArn"]
    return arn, {
        "AssociationArn": arn,
        "AssociationId": association["associationId"],
        "ExternalId": association.get("externalId", ""),
    }


def _create(properties: Properties) -> Created:
    body = {
        "namespace": properties["Namespace"],
        "serviceAccount": properties["ServiceAccount"],
        "tags": tag_map(properties),
        **_fields(properties),
    }
    cluster = properties["ClusterName"]
    response = eks.create_pod_identity_association(cluster, body)
    return _created(eks_api.answer(response)["association"])


def _update(arn: str, _old: Properties, new: Properties) -> Created:
    association_id = arn.rsplit("/", 1)[-1]
    response = eks.update_pod_identity_association(new["ClusterName"], association_id, _fields(new))
    association = eks_api.answer(response)["association"]
    association["tags"] = eks.tags[arn] = tag_map(new)
    return _created(association)


def _delete(arn: str, properties: Properties) -> None:
    association_id = arn.rsplit("/", 1)[-1]
    eks_api.gone_or_answer(
        eks.delete_pod_identity_association(properties["ClusterName"], association_id)
    )


TYPE = ResourceType(
    name="AWS::EKS::PodIdentityAssociation",
    create=_create,
    update=_update,
    delete=_delete,
)

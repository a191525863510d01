"""AWS::EKS::AccessEntry."""

from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType, tag_map
from emulator.aws.eks import api as eks_api
from emulator.aws.ministack import eks


def _policies(properties: Properties) -> dict[str, dict[str, Any]]:
    """Return the associations to make: policy ARN to the body of AssociateAccessPolicy."""
    return {
        policy["PolicyArn"]: {
            "policyArn": policy["PolicyArn"],
            "accessScope": {
                "type": policy["AccessScope"]["Type"],
                "namespaces": policy["AccessScope"].get("Namespaces", []),
            },
        }
        for policy in properties.get("AccessPolicies") or []
    }


def _fields(properties: Properties) -> dict[str, Any]:
    groups = properties.get("KubernetesGroups") or []
    username = properties.get("Username") or properties["PrincipalArn"]
    return {"kubernetesGroups": list(groups), "username": username}


def _created(properties: Properties) -> Created:
    cluster, principal = properties["ClusterName"], properties["PrincipalArn"]
    entry = eks.access_entries[eks.ae_key(cluster, principal)]
    return f"{principal}|{cluster}", {"AccessEntryArn": entry["accessEntryArn"]}


def _create(properties: Properties) -> Created:
    cluster, principal = properties["ClusterName"], properties["PrincipalArn"]
    body = {
        "principalArn": principal,
        "type": properties.get("Type", "STANDARD"),
        "tags": tag_map(properties),
        **_fields(properties),
    }
    eks_api.answer(eks.create_access_entry(cluster, body))
    for association in _policies(properties).values():
        eks_api.answer(eks.associate_access_policy(cluster, principal, association))
    return _created(properties)


def _update(_physical_id: str, old: Properties, new: Properties) -> Created:
    cluster, principal = new["ClusterName"], new["PrincipalArn"]
    before, after = _policies(old), _policies(new)
    eks_api.answer(eks.update_access_entry(cluster, principal, _fields(new)))
    for policy_arn in before.keys() - after.keys():
        eks_api.gone_or_answer(eks.disassociate_access_policy(cluster, principal, policy_arn))
    for policy_arn, association in after.items():
        if before.get(policy_arn) != association:
            eks_api.answer(eks.associate_access_policy(cluster, principal, association))
    entry = eks.access_entries[eks.ae_key(cluster, principal)]
    entry["tags"] = eks.tags[entry["accessEntryArn"]] = tag_map(new)
    return _created(new)


def _delete(_physical_id: str, properties: Properties) -> None:
    eks_api.gone_or_answer(
        eks.delete_access_entry(properties["ClusterName"], properties["PrincipalArn"])
    )


TYPE = ResourceType(
    name="AWS::EKS::AccessEntry",
    create=_create,
    update=_update,
    delete=_delete,
)

"""Access entries, Pod Identity associations, and how a cluster authenticates."""

import json
import re
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    boolean,
    tag_map,
)
from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.ministack import (
    Response,
    eks,
    get_account_id,
    get_region,
    iam_actions,
    wrap,
)

ACCESS_ENTRY_TYPES = (
    "STANDARD",
    "EC2",
    "EC2_LINUX",
    "EC2_WINDOWS",
    "FARGATE_LINUX",
    "HYBRID_LINUX",
    "HYPERPOD_LINUX",
)
# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
_ACCESS_POLICY = re.compile(r"arn:aws[a-z-]*:eks::aws:cluster-access-policy/[A-Za-z0-9]+")


def access_entry_arn(cluster_name: str, principal_arn: str) -> str:
    """Return a new access entry's ARN: it names the principal and ends in a unique id."""
    _arn, _partition, _iam, _region, account, resource = principal_arn.split(":", 5)
    kind, _slash, path = resource.partition("/")
    return (
        f"arn:aws:eks:{get_region()}:{get_account_id()}:access-entry/{cluster_name}/{kind}/"
        f"{account}/{path.rsplit('/', 1)[-1]}/{uuid.uuid4()}"
    )


def install() -> None:
    """Let access entries have every type, real ARNs, and EKS's own preconditions."""
    eks._VALID_ACCESS_ENTRY_TYPES = ACCESS_ENTRY_TYPES
    eks._access_entry_arn = access_entry_arn
    wrap(eks, "_create_access_entry", _create_access_entry)
    wrap(eks, "_associate_access_policy", _associate_access_policy)
    wrap(eks, "_describe_cluster", _describe)
    eks_api.route("POST", eks_api.CONFIG, _update)
    wrap(iam_actions, "extract_resource_arn", _extract_resource_arn)
    wrap(iam_actions, "request_tag_context", _request_tag_context)


def _create_access_entry(
    unchecked: Callable[..., Response], cluster_name: str, body: dict[str, Any]
) -> Response:
    cluster = eks._clusters.get(cluster_name)
    mode = (cluster or {}).get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if cluster is not None and mode == "CONFIG_MAP":
        message = (
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to "
            "perform this operation."
        )
        return eks_api.refusal(message, code="InvalidRequestException")
    principal_arn = body.get("principalArn", "")
    if authorization.is_missing(principal_arn):
        message = f"The specified principalArn is invalid: no such principal {principal_arn}."
        return eks_api.refusal(message)
    return unchecked(cluster_name, body)


def _associate_access_policy(
    associate: Callable[..., Response], cluster_name: str, principal_arn: str, body: dict[str, Any]
) -> Response:
    if _ACCESS_POLICY.fullmatch(body.get("policyArn", "")) is None:
        return eks_api.refusal("The policyArn parameter format is not valid")
    return associate(cluster_name, principal_arn, body)


_ENTRY = re.compile(r"/clusters/([^/]+)/access-entries/(arn:.+?)(?:/access-policies(?:/.*)?)?")
# What is done to an add-on, or to a node group, that is there.
_PART = re.compile(r"/clusters/([^/]+)/(addons|node-groups)/([^/]+)(?:/.*)?")
_KINDS = {"addons": "addon", "node-groups": "nodegroup"}
_TAGS = re.compile(r"/tags/(arn:.+)")


def _extract_resource_arn(
    resource_arn: Callable[..., str], service: str, method: str, path: str, *rest: Any
) -> str:
    """Authorize on access entries, add-ons and what is tagged."""
    *_others, region, account = rest
    found = None
    if service == "eks":
        found = _resource(unquote(path), place=f"{region}:{account}")
    return resource_arn(service, method, path, *rest) if found is None else found


def _request_tag_context(
    tag_context: Callable[..., dict[str, Any]], service: str, action: str, body: bytes, *rest: Any
) -> dict[str, Any]:
    """Give the access policy as a key."""
    context = tag_context(service, action, body, *rest)
    if action == "eks:AssociateAccessPolicy":
        context["eks:policyArn"] = json.loads(body)["policyArn"]
    return context


def _resource(path: str, *, place: str) -> str | None:
    tagged = _TAGS.fullmatch(path)
    if tagged is not None:
        return tagged[1]
    part = _PART.fullmatch(path)
    if part is not None:
        return f"arn:aws:eks:{place}:{_KINDS[part[2]]}/{part[1]}/{part[3]}/{uuid.uuid4()}"
    entry = _ENTRY.fullmatch(path)
    return None if entry is None else access_entry_arn(entry[1], entry[2])


_NEXT = {"CONFIG_MAP": "API_AND_CONFIG_MAP", "API_AND_CONFIG_MAP": "API"}
_WANTED, _LEFT = "_wanted_mode", "_updating"
# In how many descriptions a cluster is UPDATING, with the former mode.
_DESCRIPTIONS = 1


def _describe(described: Callable[[str], Response], name: str) -> Response:
    cluster = eks._clusters.get(name)
    if cluster is not None and _WANTED in cluster:
        _go_on(cluster)
    return described(name)


def _update(
    asked: re.Match[str], body: Mapping[str, Any], _query: eks_api.Query
) -> Response | None:
    """Answer UpdateClusterConfig of `accessConfig`, which MiniStack does not know."""
    cluster = eks._clusters.get(asked[1])
    if cluster is None or not body.get("accessConfig"):
        return None
    wanted = body["accessConfig"]["authenticationMode"]
    mode = cluster["accessConfig"]["authenticationMode"]
    if cluster["status"] != "ACTIVE":
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html
        return eks._error(
            HTTPStatus.CONFLICT,
            "ResourceInUseException",
            f"Cannot update a cluster that is {cluster['status']}: {cluster['name']}",
        )
    if _NEXT.get(mode) != wanted:
        message = f"Unsupported authentication mode update from {mode} to {wanted}"
        return eks_api.refusal(message)
    cluster |= {"status": "UPDATING", _WANTED: wanted, _LEFT: _DESCRIPTIONS}
    params = [{"type": "AuthenticationMode", "value": f'"{wanted}"'}]
    return eks_api.updating(eks_api.update("AccessConfigUpdate", params=params))


def _go_on(cluster: dict[str, Any]) -> None:
    if cluster[_LEFT] > 0:
        cluster[_LEFT] -= 1
        return
    cluster["accessConfig"]["authenticationMode"] = cluster.pop(_WANTED)
    cluster["status"] = "ACTIVE"


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


def _entry_fields(properties: Properties) -> dict[str, Any]:
    groups = properties.get("KubernetesGroups") or []
    username = properties.get("Username") or properties["PrincipalArn"]
    return {"kubernetesGroups": list(groups), "username": username}


def _created(properties: Properties) -> Created:
    cluster, principal = properties["ClusterName"], properties["PrincipalArn"]
    entry = eks._access_entries[eks._ae_key(cluster, principal)]
    return f"{principal}|{cluster}", {"AccessEntryArn": entry["accessEntryArn"]}


def _create_entry(properties: Properties) -> Created:
    cluster, principal = properties["ClusterName"], properties["PrincipalArn"]
    body = {
        "principalArn": principal,
        "type": properties.get("Type", "STANDARD"),
        "tags": tag_map(properties),
        **_entry_fields(properties),
    }
    eks_api.answer(eks._create_access_entry(cluster, body))
    for association in _policies(properties).values():
        eks_api.answer(eks._associate_access_policy(cluster, principal, association))
    return _created(properties)


def _update_entry(_physical_id: str, old: Properties, new: Properties) -> Created:
    cluster, principal = new["ClusterName"], new["PrincipalArn"]
    before, after = _policies(old), _policies(new)
    eks_api.answer(eks._update_access_entry(cluster, principal, _entry_fields(new)))
    for policy_arn in before.keys() - after.keys():
        eks_api.gone_or_answer(eks._disassociate_access_policy(cluster, principal, policy_arn))
    for policy_arn, association in after.items():
        if before.get(policy_arn) != association:
            eks_api.answer(eks._associate_access_policy(cluster, principal, association))
    entry = eks._access_entries[eks._ae_key(cluster, principal)]
    entry["tags"] = eks._tags[entry["accessEntryArn"]] = tag_map(new)
    return _created(new)


def _delete_entry(_physical_id: str, properties: Properties) -> None:
    eks_api.gone_or_answer(
        eks._delete_access_entry(properties["ClusterName"], properties["PrincipalArn"])
    )


ACCESS_ENTRY = ResourceType(
    name="AWS::EKS::AccessEntry",
    create=_create_entry,
    update=_update_entry,
    delete=_delete_entry,
)


def _association_fields(properties: Properties) -> dict[str, Any]:
    return {
        "roleArn": properties["RoleArn"],
        "targetRoleArn": properties.get("TargetRoleArn", ""),
        "disableSessionTags": boolean(properties.get("DisableSessionTags", False)),
    }


def _created_association(association: dict[str, Any]) -> Created:
    arn = association["associationArn"]
    return arn, {
        "AssociationArn": arn,
        "AssociationId": association["associationId"],
        "ExternalId": association.get("externalId", ""),
    }


def _create_association(properties: Properties) -> Created:
    body = {
        "namespace": properties["Namespace"],
        "serviceAccount": properties["ServiceAccount"],
        "tags": tag_map(properties),
        **_association_fields(properties),
    }
    cluster = properties["ClusterName"]
    response = eks._create_pod_identity_association(cluster, body)
    return _created_association(eks_api.answer(response)["association"])


def _update_association(arn: str, _old: Properties, new: Properties) -> Created:
    association_id = arn.rsplit("/", 1)[-1]
    response = eks._update_pod_identity_association(
        new["ClusterName"], association_id, _association_fields(new)
    )
    association = eks_api.answer(response)["association"]
    association["tags"] = eks._tags[arn] = tag_map(new)
    return _created_association(association)


def _delete_association(arn: str, properties: Properties) -> None:
    association_id = arn.rsplit("/", 1)[-1]
    eks_api.gone_or_answer(
        eks._delete_pod_identity_association(properties["ClusterName"], association_id)
    )


POD_IDENTITY_ASSOCIATION = ResourceType(
    name="AWS::EKS::PodIdentityAssociation",
    create=_create_association,
    update=_update_association,
    delete=_delete_association,
)

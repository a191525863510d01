"""Access entries and Pod Identity associations, and calls of MiniStack's EKS in-process."""

import json
import re
import time
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    Refused,
    ResourceType,
    boolean,
    tag_map,
)
from emulator.aws.iam import authorization
from emulator.aws.ministack import Response, eks, get_account_id, get_region, iam_actions

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


def answer(response: Response) -> dict[str, Any]:
    """Return the body of an operation's response.

    Raises:
        Refused: EKS answered with an error.
    """
    status, _headers, body = response
    content: dict[str, Any] = json.loads(body)
    if status >= HTTPStatus.BAD_REQUEST:
        raise Refused(f"{content['__type']}: {content['message']}")
    return content


def gone_or_answer(response: Response) -> None:
    """Accept a deletion's response, also when there was nothing to delete."""
    if response[0] != HTTPStatus.NOT_FOUND:
        answer(response)


def access_entry_arn(cluster_name: str, principal_arn: str) -> str:
    """Return a new access entry's ARN: it names the principal and ends in a unique id."""
    _arn, _partition, _iam, _region, account, resource = principal_arn.split(":", 5)
    kind, _slash, path = resource.partition("/")
    return (
        f"arn:aws:eks:{get_region()}:{get_account_id()}:access-entry/{cluster_name}/{kind}/"
        f"{account}/{path.rsplit('/', 1)[-1]}/{uuid.uuid4()}"
    )


def _entry_problem(cluster_name: str, body: dict[str, Any]) -> tuple[str, str] | None:
    cluster = eks.clusters.get(cluster_name)
    mode = (cluster or {}).get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if cluster is not None and mode == "CONFIG_MAP":
        return (
            "InvalidRequestException",
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to "
            "perform this operation.",
        )
    principal_arn = body.get("principalArn", "")
    if ":role/" in principal_arn and authorization.role(principal_arn) is None:
        return (
            "InvalidParameterException",
            f"The specified principalArn is invalid: no such principal {principal_arn}.",
        )
    return None


def install() -> None:
    """Let access entries have every type, real ARNs, and EKS's own preconditions."""
    eks.VALID_ACCESS_ENTRY_TYPES = ACCESS_ENTRY_TYPES
    eks.access_entry_arn = access_entry_arn
    unchecked = eks.create_access_entry

    def create_access_entry(cluster_name: str, body: dict[str, Any]) -> Response:
        problem = _entry_problem(cluster_name, body)
        response: Response = (
            eks.error(HTTPStatus.BAD_REQUEST, *problem)
            if problem
            else unchecked(cluster_name, body)
        )
        return response

    associate = eks.associate_access_policy

    def associate_access_policy(
        cluster_name: str, principal_arn: str, body: dict[str, Any]
    ) -> Response:
        if _ACCESS_POLICY.fullmatch(body.get("policyArn", "")) is None:
            message = "The policyArn parameter format is not valid"
            refused: Response = eks.error(
                HTTPStatus.BAD_REQUEST, "InvalidParameterException", message
            )
            return refused
        response: Response = associate(cluster_name, principal_arn, body)
        return response

    eks.create_access_entry = create_access_entry
    eks.associate_access_policy = associate_access_policy


_ENTRY = re.compile(r"/clusters/([^/]+)/access-entries/(arn:.+?)(?:/access-policies(?:/.*)?)?")
# What is done to an add-on, or to a node group, that is there.
_PART = re.compile(r"/clusters/([^/]+)/(addons|node-groups)/([^/]+)(?:/.*)?")
_KINDS = {"addons": "addon", "node-groups": "nodegroup"}
_TAGS = re.compile(r"/tags/(arn:.+)")


def install_authorization() -> None:
    """Authorize on access entries, add-ons and what is tagged, with the access policy as a key."""
    resource_arn: Callable[..., str] = iam_actions.extract_resource_arn
    tag_context: Callable[..., dict[str, Any]] = iam_actions.request_tag_context

    def extract_resource_arn(service: str, method: str, path: str, *rest: Any) -> str:
        *_others, region, account = rest
        found = None
        if service == "eks":
            found = _resource(unquote(path), place=f"{region}:{account}")
        return resource_arn(service, method, path, *rest) if found is None else found

    def request_tag_context(
        service: str, action: str, body: bytes, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        context = tag_context(service, action, body, params)
        if action == "eks:AssociateAccessPolicy":
            context["eks:policyArn"] = json.loads(body)["policyArn"]
        return context

    iam_actions.extract_resource_arn = extract_resource_arn
    iam_actions.request_tag_context = request_tag_context


def _resource(path: str, *, place: str) -> str | None:
    tagged = _TAGS.fullmatch(path)
    if tagged is not None:
        return tagged[1]
    part = _PART.fullmatch(path)
    if part is not None:
        return f"arn:aws:eks:{place}:{_KINDS[part[2]]}/{part[1]}/{part[3]}/{uuid.uuid4()}"
    entry = _ENTRY.fullmatch(path)
    if entry is None:
        return None
    return access_entry_arn(entry[1], entry[2])


_CONFIG = re.compile(r"/clusters/([A-Za-z0-9_-]+)/update-config")
_NEXT = {"CONFIG_MAP": "API_AND_CONFIG_MAP", "API_AND_CONFIG_MAP": "API"}
_WANTED, _LEFT = "_wanted_mode", "_updating"
# In how many descriptions a cluster is UPDATING, with the former mode.
_DESCRIPTIONS = 1


def install_authentication_mode() -> None:
    """Answer UpdateClusterConfig of `accessConfig`, which MiniStack does not know."""
    handled, created, described = (
        eks.handle_request_sync,
        eks.create_cluster,
        eks.describe_cluster,
    )

    def create(body: dict[str, Any], creator_arn: str | None = None) -> Response:
        response: Response = created(body, creator_arn)
        if response[0] < HTTPStatus.BAD_REQUEST:
            # https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessConfigRequest.html
            access = eks.clusters[body["name"]].setdefault("accessConfig", {})
            access.setdefault("authenticationMode", "CONFIG_MAP")
        return response

    def describe(name: str) -> Response:
        cluster = eks.clusters.get(name)
        if cluster is not None and _WANTED in cluster:
            _go_on(cluster)
        response: Response = described(name)
        return response

    def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        asked = _CONFIG.fullmatch(path)
        access = json.loads(body).get("accessConfig") if asked and body else None
        if asked is None or method != "POST" or not access or asked[1] not in eks.clusters:
            response: Response = handled(method, path, headers, body, query)
            return response
        return _update(eks.clusters[asked[1]], access["authenticationMode"])

    eks.create_cluster, eks.describe_cluster = create, describe
    eks.handle_request_sync = handle


def _update(cluster: dict[str, Any], wanted: str) -> Response:
    mode = cluster["accessConfig"]["authenticationMode"]
    refusal: Response
    if cluster["status"] != "ACTIVE":
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html
        refusal = eks.error(
            HTTPStatus.CONFLICT,
            "ResourceInUseException",
            f"Cannot update a cluster that is {cluster['status']}: {cluster['name']}",
        )
        return refusal
    if _NEXT.get(mode) != wanted:
        refusal = eks.error(
            HTTPStatus.BAD_REQUEST,
            "InvalidParameterException",
            f"Unsupported authentication mode update from {mode} to {wanted}",
        )
        return refusal
    cluster |= {"status": "UPDATING", _WANTED: wanted, _LEFT: _DESCRIPTIONS}
    update = {
        "id": str(uuid.uuid4()),
        "status": "InProgress",
        "type": "AccessConfigUpdate",
        "params": [{"type": "AuthenticationMode", "value": f'"{wanted}"'}],
        "createdAt": time.time(),
        "errors": [],
    }
    response: Response = eks.json_resp(HTTPStatus.OK, {"update": update})
    return response


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
    entry = eks.access_entries[eks.ae_key(cluster, principal)]
    return f"{principal}|{cluster}", {"AccessEntryArn": entry["accessEntryArn"]}


def _create_entry(properties: Properties) -> Created:
    cluster, principal = properties["ClusterName"], properties["PrincipalArn"]
    body = {
        "principalArn": principal,
        "type": properties.get("Type", "STANDARD"),
        "tags": tag_map(properties),
        **_entry_fields(properties),
    }
    answer(eks.create_access_entry(cluster, body))
    for association in _policies(properties).values():
        answer(eks.associate_access_policy(cluster, principal, association))
    return _created(properties)


def _update_entry(_physical_id: str, old: Properties, new: Properties) -> Created:
    cluster, principal = new["ClusterName"], new["PrincipalArn"]
    before, after = _policies(old), _policies(new)
    answer(eks.update_access_entry(cluster, principal, _entry_fields(new)))
    for policy_arn in before.keys() - after.keys():
        gone_or_answer(eks.disassociate_access_policy(cluster, principal, policy_arn))
    for policy_arn, association in after.items():
        if before.get(policy_arn) != association:
            answer(eks.associate_access_policy(cluster, principal, association))
    entry = eks.access_entries[eks.ae_key(cluster, principal)]
    entry["tags"] = eks.tags[entry["accessEntryArn"]] = tag_map(new)
    return _created(new)


def _delete_entry(_physical_id: str, properties: Properties) -> None:
    gone_or_answer(eks.delete_access_entry(properties["ClusterName"], properties["PrincipalArn"]))


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
    response = eks.create_pod_identity_association(cluster, body)
    return _created_association(answer(response)["association"])


def _update_association(arn: str, _old: Properties, new: Properties) -> Created:
    association_id = arn.rsplit("/", 1)[-1]
    response = eks.update_pod_identity_association(
        new["ClusterName"], association_id, _association_fields(new)
    )
    association = answer(response)["association"]
    association["tags"] = eks.tags[arn] = tag_map(new)
    return _created_association(association)


def _delete_association(arn: str, properties: Properties) -> None:
    association_id = arn.rsplit("/", 1)[-1]
    gone_or_answer(eks.delete_pod_identity_association(properties["ClusterName"], association_id))


POD_IDENTITY_ASSOCIATION = ResourceType(
    name="AWS::EKS::PodIdentityAssociation",
    create=_create_association,
    update=_update_association,
    delete=_delete_association,
)

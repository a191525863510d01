"""AWS::EKS::Cluster as EKS makes it, keeps it and protects it.

That a property cannot be left out again is worded as in
https://github.com/aws/aws-cdk/issues/37926, of PublicAccessCidrs. Whether all properties are meant,
or a rollback too, is not published: the protection is refused here as well, and no rollback is.
https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.cloudformation import express_mode
from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, boolean
from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.eks.cluster_updates import keep_zones, network_refusal
from hyperpod_emulator.aws.encryption import key_problem, make_for_service
from hyperpod_emulator.aws.ministack import (
    Response,
    cloudformation,
    ec2,
    eks,
    get_account_id,
    get_region,
    provisioners,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import OIDC_PROVIDER_ID, Readiness, own_settings

_CREATING, _AGAIN = "_creating", "_again"
_PROTECTION = "deletionProtection"
_ROLLBACK = "UPDATE_ROLLBACK_IN_PROGRESS"
_ALL_TRAFFIC: dict[str, Any] = {"IpProtocol": "-1", "Ipv6Ranges": [], "PrefixListIds": []}


def _encryption_problem(body: dict[str, Any]) -> str | None:
    """Return what is wrong with the key for secrets, or None.

    A symmetric key of the cluster's region: CreateCluster in the EKS API reference (Provider).
    """
    for encryption in body.get("encryptionConfig") or []:
        key = encryption.get("provider", {}).get("keyArn", "")
        problem = key_problem(key)
        if problem is not None:
            return f"The KeyArn in encryptionConfig provider, {key}, {problem}"
    return None


def _create_security_group(cluster_name: str, vpc_id: str) -> str:
    """Create the group that EKS puts on the control plane's network interfaces."""
    group_id: str = ec2._new_sg_id()
    account = get_account_id()
    name = f"eks-cluster-sg-{cluster_name}-{secrets.randbelow(10**9)}"
    itself = {"GroupId": group_id, "UserId": account}
    ec2._security_groups[group_id] = {
        "GroupId": group_id,
        "GroupName": name,
        "Description": "EKS created security group applied to the cluster's network interfaces.",
        "VpcId": vpc_id,
        "OwnerId": account,
        "IpPermissions": [{**_ALL_TRAFFIC, "IpRanges": [], "UserIdGroupPairs": [itself]}],
        "IpPermissionsEgress": [
            {**_ALL_TRAFFIC, "IpRanges": [{"CidrIp": "0.0.0.0/0"}], "UserIdGroupPairs": []}
        ],
    }
    return group_id


def _new_oidc_id() -> str:
    return secrets.token_hex(16).upper()


def _issuer_url(oidc_id: str) -> str:
    """Return what signs the tokens of a cluster's service accounts; nothing serves it here.

    https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html
    """
    return f"https://oidc.eks.{get_region()}.amazonaws.com/id/{oidc_id}"


def _identity(tags: Mapping[str, str]) -> dict[str, Any]:
    """Return the issuer that a test names; nothing if it names none."""
    named = tags.get(OIDC_PROVIDER_ID)
    return {} if named is None else {"oidc": {"issuer": _issuer_url(named)}}


def _creating(cluster: dict[str, Any]) -> Response:
    """Return what EKS says of a cluster before there is an endpoint.

    As logged in https://github.com/aws/aws-cdk/issues/18746.
    """
    shown: dict[str, Any] = eks._sanitize(cluster)
    network = {**shown["resourcesVpcConfig"], "clusterSecurityGroupId": None}
    unready = {"status": "CREATING", "endpoint": None, "certificateAuthority": {"data": None}}
    body = {"cluster": {**shown, **unready, "resourcesVpcConfig": network}}
    return eks._json_resp(HTTPStatus.OK, body)


def _readiness(readiness: Readiness | None) -> dict[str, float]:
    if readiness is None:
        return {}
    return {_CREATING: readiness.descriptions, _AGAIN: readiness.clusters_again}


def _is_creating(cluster: dict[str, Any], readiness: Readiness) -> bool:
    """Say whether this description still says so."""
    if readiness.clusters_again not in {0.0, cluster.get(_AGAIN)}:
        cluster |= _readiness(readiness)
    left: int = cluster.get(_CREATING, 0)
    cluster[_CREATING] = max(left - 1, 0)
    return left > 0


def install() -> None:
    """Give a cluster a VPC, a security group and the endpoint, and protect it. No Docker."""
    eks._docker_available = False
    eks._issuer_url, eks._new_oidc_id = _issuer_url, _new_oidc_id
    wrap(eks, "_create_cluster", _create)
    wrap(eks, "_delete_cluster", _delete)
    wrap(eks, "_describe_cluster", _describe)
    wrap(provisioners, "_eks_cluster_fields", _fields)
    handlers = provisioners._RESOURCE_HANDLERS["AWS::EKS::Cluster"]
    handlers["delete"] = lambda name, _: eks_api.gone_or_answer(eks._delete_cluster(name))
    wrap(handlers, "update", _update)
    eks_api.route("POST", eks_api.CONFIG, _protect)


def _describe(described: Callable[[str], Response], name: str) -> Response:
    cluster = eks._clusters.get(name)
    if cluster is not None:
        # What TagResource and UntagResource did since it was created.
        cluster["tags"] = dict(eks._tags.get(cluster["arn"], {}))
        if _is_creating(cluster, Readiness.read(Path(own_settings().scratch))):
            return _creating(cluster)
    return described(name)


def _version_problem(body: dict[str, Any]) -> str | None:
    """Return why EKS makes no cluster of a version; it chooses one itself if none is asked for.

    https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
    """
    ended = body.get("version") in own_settings().ended_versions
    return f"unsupported Kubernetes version: {body['version']}" if ended else None


def _create(
    unchecked: Callable[..., Response], body: dict[str, Any], creator_arn: str | None = None
) -> Response:
    refusal = network_refusal(body)
    problem = _encryption_problem(body) or _version_problem(body)
    if refusal is not None or problem is not None:
        return refusal or eks_api.refusal(str(problem))
    response = unchecked(body, creator_arn)
    if response[0] >= HTTPStatus.BAD_REQUEST:
        return response
    cluster = eks._clusters[body["name"]]
    cluster["identity"] = _identity(body.get("tags", {})) or cluster["identity"]
    vpc_id = ec2._subnets[body["resourcesVpcConfig"]["subnetIds"][0]]["VpcId"]
    cluster["resourcesVpcConfig"] |= {
        "vpcId": vpc_id,
        "clusterSecurityGroupId": _create_security_group(body["name"], vpc_id),
    }
    keep_zones(cluster)
    cluster["kubernetesNetworkConfig"] |= body.get("kubernetesNetworkConfig", {})
    # https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessConfigRequest.html
    cluster.setdefault("accessConfig", {}).setdefault("authenticationMode", "CONFIG_MAP")
    cluster[_PROTECTION] = bool(body.get(_PROTECTION))
    cluster |= _readiness(express_mode.readiness())
    if own_settings().kubernetes_endpoint:
        cluster["endpoint"] = own_settings().kubernetes_endpoint
        cluster["certificateAuthority"] = {"data": own_settings().kubernetes_ca}
    if any(logs.get("enabled") for logs in body.get("logging", {}).get("clusterLogging", [])):
        # https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
        make_for_service(f"/aws/eks/{body['name']}/cluster")
    cluster["status"] = "ACTIVE"
    return eks._json_resp(HTTPStatus.OK, {"cluster": eks._sanitize(cluster)})


def _delete(deleted: Callable[[str], Response], name: str) -> Response:
    cluster = eks._clusters.get(name) or {}
    if cluster.get(_PROTECTION):
        message = f"Cluster {name} has deletion protection; disable it before you delete it."
        return eks_api.refusal(message, code="InvalidRequestException")
    group_id = cluster.get("resourcesVpcConfig", {}).get("clusterSecurityGroupId")
    if group_id in ec2._security_groups:
        del ec2._security_groups[group_id]
    return deleted(name)


def _fields(without: Callable[..., dict[str, Any]], properties: dict[str, Any]) -> dict[str, Any]:
    result = without(properties)
    access = properties.get("AccessConfig") or {}
    if "BootstrapClusterCreatorAdminPermissions" in access:
        result["accessConfig"]["bootstrapClusterCreatorAdminPermissions"] = boolean(
            access["BootstrapClusterCreatorAdminPermissions"]
        )
    for key in ("EncryptionConfig", "KubernetesNetworkConfig"):
        if properties.get(key):
            result[key[0].lower() + key[1:]] = provisioners._pascal_to_camel(properties[key])
    return {**result, _PROTECTION: boolean(properties.get("DeletionProtection", False))}


def _protect(
    asked: re.Match[str], body: Mapping[str, Any], _query: eks_api.Query
) -> Response | None:
    if _PROTECTION not in body or asked[1] not in eks._clusters:
        return None
    eks._clusters[asked[1]][_PROTECTION] = body[_PROTECTION]
    return eks_api.updating(eks_api.update("DeletionProtectionUpdate", status="Successful"))


def _update(updated: Callable[..., Created], *change: Any) -> Created:
    """Check an update by CloudFormation, before anything of it is done."""
    _name, old, new, stack, *_ids = change
    if cloudformation._stacks[stack]["StackStatus"] != _ROLLBACK:
        for dropped in _dropped(old, new):
            raise Refused(
                "The new template must include all the properties specified in the previous "
                f'template, property "{dropped}" missing'
            )
    return updated(*change)


def _dropped(old: Properties, new: Properties) -> Iterator[str]:
    if "PublicAccessCidrs" in old["ResourcesVpcConfig"].keys() - new["ResourcesVpcConfig"].keys():
        yield "PublicAccessCidrs"
    if "DeletionProtection" in old.keys() - new.keys():
        yield "DeletionProtection"

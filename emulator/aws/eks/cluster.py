"""AWS::EKS::Cluster as EKS makes it, keeps it and protects it.

That a property cannot be left out again is worded as in
https://github.com/aws/aws-cdk/issues/37926, of PublicAccessCidrs. Whether all properties are meant,
or a rollback too, is not published: the protection is refused here as well, and no rollback is.
https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html
"""

import json
import re
import secrets
import uuid
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from emulator.aws.cloudformation import express_mode
from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.eks import access as eks_api
from emulator.aws.encryption import key_problem, make_for_service
from emulator.aws.ministack import (
    Response,
    cloudformation,
    ec2,
    eks,
    get_account_id,
    get_region,
    provisioners,
)
from emulator.aws.settings import OIDC_PROVIDER_ID, Readiness, Settings

_CREATING, _AGAIN = "_creating", "_again"
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
    group_id: str = ec2.new_sg_id()
    account = get_account_id()
    name = f"eks-cluster-sg-{cluster_name}-{secrets.randbelow(10**9)}"
    itself = {"GroupId": group_id, "UserId": account}
    ec2.security_groups[group_id] = {
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
    shown: dict[str, Any] = eks.sanitize(cluster)
    network = {**shown["resourcesVpcConfig"], "clusterSecurityGroupId": None}
    unready = {"status": "CREATING", "endpoint": None, "certificateAuthority": {"data": None}}
    body = {"cluster": {**shown, **unready, "resourcesVpcConfig": network}}
    response: Response = eks.json_resp(HTTPStatus.OK, body)
    return response


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


def install_cluster(*, settings: Settings) -> None:
    """Give a cluster a VPC, a security group and the endpoint. No Docker."""
    eks.docker_available = False
    unchecked, undeleted = eks.create_cluster, eks.delete_cluster
    describe_without_new_tags = eks.describe_cluster
    fields_without = provisioners.eks_cluster_fields

    def create(body: dict[str, Any], creator_arn: str | None = None) -> Response:
        vpc_config = body.get("resourcesVpcConfig", {})
        problem = _encryption_problem(body)
        if problem:
            refusal: Response = eks.error(
                HTTPStatus.BAD_REQUEST, "InvalidParameterException", problem
            )
            return refusal
        response: Response = unchecked(body, creator_arn)
        if response[0] >= HTTPStatus.BAD_REQUEST:
            return response
        cluster = eks.clusters[body["name"]]
        cluster["identity"] = _identity(body.get("tags", {})) or cluster["identity"]
        vpc_id = ec2.subnets[vpc_config["subnetIds"][0]]["VpcId"]
        cluster["resourcesVpcConfig"] |= {
            "vpcId": vpc_id,
            "clusterSecurityGroupId": _create_security_group(body["name"], vpc_id),
        }
        cluster["kubernetesNetworkConfig"] |= body.get("kubernetesNetworkConfig", {})
        cluster |= _readiness(express_mode.readiness())
        if settings.kubernetes_endpoint:
            cluster["endpoint"] = settings.kubernetes_endpoint
            cluster["certificateAuthority"] = {"data": settings.kubernetes_ca}
        if any(logs.get("enabled") for logs in body.get("logging", {}).get("clusterLogging", [])):
            # https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
            make_for_service(f"/aws/eks/{body['name']}/cluster")
        cluster["status"] = "ACTIVE"
        created: Response = describe_without_new_tags(body["name"])
        return created

    def describe(name: str) -> Response:
        cluster = eks.clusters.get(name)
        if cluster is not None:
            # What TagResource and UntagResource did since it was created.
            cluster["tags"] = dict(eks.tags.get(cluster["arn"], {}))
            if _is_creating(cluster, Readiness.read(Path(settings.scratch))):
                return _creating(cluster)
        response: Response = describe_without_new_tags(name)
        return response

    def delete(name: str) -> Response:
        cluster = eks.clusters.get(name) or {}
        group_id = cluster.get("resourcesVpcConfig", {}).get("clusterSecurityGroupId")
        if group_id in ec2.security_groups:
            del ec2.security_groups[group_id]
        response: Response = undeleted(name)
        return response

    def fields(properties: dict[str, Any]) -> dict[str, Any]:
        camel = provisioners.pascal_to_camel
        result: dict[str, Any] = fields_without(properties)
        access = properties.get("AccessConfig") or {}
        if "BootstrapClusterCreatorAdminPermissions" in access:
            result["accessConfig"]["bootstrapClusterCreatorAdminPermissions"] = (
                provisioners.cfn_bool(access["BootstrapClusterCreatorAdminPermissions"])
            )
        for key in ("EncryptionConfig", "KubernetesNetworkConfig"):
            if properties.get(key):
                result[key[0].lower() + key[1:]] = camel(properties[key])
        return result

    eks.create_cluster, eks.delete_cluster = create, delete
    eks.issuer_url, eks.new_oidc_id = _issuer_url, _new_oidc_id
    eks.describe_cluster = describe
    provisioners.eks_cluster_fields = fields


_ROLLBACK = "UPDATE_ROLLBACK_IN_PROGRESS"


def install_dropped_properties() -> None:
    """Check each update of a cluster by CloudFormation."""
    handlers = provisioners.RESOURCE_HANDLERS["AWS::EKS::Cluster"]
    updated = handlers["update"]

    def update(
        physical_id: str, old: Properties, new: Properties, stack: str, *names: str
    ) -> Created:
        if cloudformation.stacks[stack]["StackStatus"] != _ROLLBACK:
            for name in _dropped(old, new):
                raise Refused(
                    "The new template must include all the properties specified in the previous "
                    f'template, property "{name}" missing'
                )
        result: Created = updated(physical_id, old, new, stack, *names)
        return result

    handlers["update"] = update


def _dropped(old: Properties, new: Properties) -> Iterator[str]:
    if "PublicAccessCidrs" in old["ResourcesVpcConfig"].keys() - new["ResourcesVpcConfig"].keys():
        yield "PublicAccessCidrs"
    if "DeletionProtection" in old.keys() - new.keys():
        yield "DeletionProtection"


_UPDATE_CONFIG = re.compile(r"/clusters/([A-Za-z0-9_-]+)/update-config")
_KEY = "deletionProtection"


def install_deletion_protection() -> None:
    """Keep the switch of each cluster, refuse to delete one that is protected."""
    created, deleted = eks.create_cluster, eks.delete_cluster
    handled, fields_without = eks.handle_request_sync, provisioners.eks_cluster_fields

    def create(body: dict[str, Any], creator_arn: str | None = None) -> Response:
        response: Response = created(body, creator_arn)
        if response[0] < HTTPStatus.BAD_REQUEST:
            eks.clusters[body["name"]][_KEY] = bool(body.get(_KEY))
        return response

    def delete(name: str) -> Response:
        if eks.clusters.get(name, {}).get(_KEY):
            message = f"Cluster {name} has deletion protection; disable it before you delete it."
            refusal: Response = eks.error(
                HTTPStatus.BAD_REQUEST, "InvalidRequestException", message
            )
            return refusal
        response: Response = deleted(name)
        return response

    def delete_resource(name: str, _properties: dict[str, Any]) -> None:
        eks_api.gone_or_answer(eks.delete_cluster(name))

    def fields(properties: dict[str, Any]) -> dict[str, Any]:
        protected = provisioners.cfn_bool(properties.get("DeletionProtection", False))
        return {**fields_without(properties), _KEY: protected}

    def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        match = _UPDATE_CONFIG.fullmatch(path)
        wanted = json.loads(body or b"{}") if match and method == "POST" else {}
        if match is None or _KEY not in wanted or match[1] not in eks.clusters:
            response: Response = handled(method, path, headers, body, query)
            return response
        eks.clusters[match[1]][_KEY] = wanted[_KEY]
        update = {"id": str(uuid.uuid4()), "status": "Successful"}
        return (
            HTTPStatus.OK,
            {"Content-Type": "application/json"},
            json.dumps({"update": update}).encode(),
        )

    eks.create_cluster, eks.delete_cluster = create, delete
    eks.handle_request_sync = handle
    provisioners.eks_cluster_fields = fields
    provisioners.RESOURCE_HANDLERS["AWS::EKS::Cluster"]["delete"] = delete_resource

"""Clusters that EKS deletes only once their deletion protection is lifted.

https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html
"""

import json
import re
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.eks import api as eks_api
from emulator.aws.eks.api import EksResponse
from emulator.aws.ministack import eks, provisioners

_UPDATE_CONFIG = re.compile(r"/clusters/([A-Za-z0-9_-]+)/update-config")
_KEY = "deletionProtection"


def install() -> None:
    """Keep the switch of each cluster, refuse to delete one that is protected."""
    created, deleted = eks.create_cluster, eks.delete_cluster
    handled, fields_without = eks.handle_request_sync, provisioners.eks_cluster_fields

    def create(body: dict[str, Any], creator_arn: str | None = None) -> EksResponse:
        response: EksResponse = created(body, creator_arn)
        if response[0] < HTTPStatus.BAD_REQUEST:
            eks.clusters[body["name"]][_KEY] = bool(body.get(_KEY))
        return response

    def delete(name: str) -> EksResponse:
        if eks.clusters.get(name, {}).get(_KEY):
            message = f"Cluster {name} has deletion protection; disable it before you delete it."
            refusal: EksResponse = eks.error(
                HTTPStatus.BAD_REQUEST, "InvalidRequestException", message
            )
            return refusal
        response: EksResponse = deleted(name)
        return response

    def delete_resource(name: str, _properties: dict[str, Any]) -> None:
        eks_api.gone_or_answer(eks.delete_cluster(name))

    def fields(properties: dict[str, Any]) -> dict[str, Any]:
        protected = provisioners.cfn_bool(properties.get("DeletionProtection", False))
        return {**fields_without(properties), _KEY: protected}

    def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> EksResponse:
        match = _UPDATE_CONFIG.fullmatch(path)
        wanted = json.loads(body or b"{}") if match and method == "POST" else {}
        if match is None or _KEY not in wanted or match[1] not in eks.clusters:
            response: EksResponse = handled(method, path, headers, body, query)
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

"""The authentication mode of a cluster, which UpdateClusterConfig changes one way.

CONFIG_MAP, then API_AND_CONFIG_MAP, then API: never back, nor from the first to the last.
https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html, worded as in
https://github.com/pulumi/pulumi-eks/issues/1493
"""

import json
import re
import time
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.eks.api import EksResponse
from emulator.aws.ministack import eks

_CONFIG = re.compile(r"/clusters/([A-Za-z0-9_-]+)/update-config")
_NEXT = {"CONFIG_MAP": "API_AND_CONFIG_MAP", "API_AND_CONFIG_MAP": "API"}
_WANTED, _LEFT = "_wanted_mode", "_updating"
# In how many descriptions a cluster is UPDATING, with the former mode.
_DESCRIPTIONS = 1


def install() -> None:
    """Answer UpdateClusterConfig of `accessConfig`, which MiniStack does not know."""
    handled, created, described = (
        eks.handle_request_sync,
        eks.create_cluster,
        eks.describe_cluster,
    )

    def create(body: dict[str, Any], creator_arn: str | None = None) -> EksResponse:
        response: EksResponse = created(body, creator_arn)
        if response[0] < HTTPStatus.BAD_REQUEST:
            # https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessConfigRequest.html
            access = eks.clusters[body["name"]].setdefault("accessConfig", {})
            access.setdefault("authenticationMode", "CONFIG_MAP")
        return response

    def describe(name: str) -> EksResponse:
        cluster = eks.clusters.get(name)
        if cluster is not None and _WANTED in cluster:
            _go_on(cluster)
        response: EksResponse = described(name)
        return response

    def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> EksResponse:
        asked = _CONFIG.fullmatch(path)
        access = json.loads(body).get("accessConfig") if asked and body else None
        if asked is None or method != "POST" or not access or asked[1] not in eks.clusters:
            response: EksResponse = handled(method, path, headers, body, query)
            return response
        return _update(eks.clusters[asked[1]], access["authenticationMode"])

    eks.create_cluster, eks.describe_cluster = create, describe
    eks.handle_request_sync = handle


def _update(cluster: dict[str, Any], wanted: str) -> EksResponse:
    mode = cluster["accessConfig"]["authenticationMode"]
    refusal: EksResponse
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
    response: EksResponse = eks.json_resp(HTTPStatus.OK, {"update": update})
    return response


def _go_on(cluster: dict[str, Any]) -> None:
    if cluster[_LEFT] > 0:
        cluster[_LEFT] -= 1
        return
    cluster["accessConfig"]["authenticationMode"] = cluster.pop(_WANTED)
    cluster["status"] = "ACTIVE"

"""The Kubernetes version of a cluster: EKS raises it by one minor version at a time.

https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html. It lowers it by one within
seven days of such an update, which a rehearsal does not outlast, if the add-ons fit, or by force:
https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html
"""

import json
import re
import time
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.eks import addon_versions
from emulator.aws.eks.api import EksResponse
from emulator.aws.eks.unknowns import EksUnknowns
from emulator.aws.ministack import cloudformation, eks, provisioners
from emulator.aws.parent_process import Settings

_UPDATES = re.compile(r"/clusters/([A-Za-z0-9_-]+)/updates")
_UPDATE = re.compile(rf"{_UPDATES.pattern}/([0-9a-f-]+)")
_FORMER = "_former_version"
_MADE = "_version_updates"
_ROLLBACK = "UPDATE_ROLLBACK_IN_PROGRESS"


def install(*, settings: Settings) -> None:
    """Check each change of a cluster's version, by CloudFormation or by UpdateClusterVersion."""
    handlers = provisioners.RESOURCE_HANDLERS["AWS::EKS::Cluster"]
    updated, handled = handlers["update"], eks.handle_request_sync

    def update(
        physical_id: str, old: Properties, new: Properties, stack: str, *names: str
    ) -> Created:
        cluster, wanted = eks.clusters[physical_id], str(new["Version"])
        if wanted != old["Version"] and not _is_kept(
            cluster, wanted, stack=stack, unknowns=EksUnknowns.read(Path(settings.scratch))
        ):
            problem = _problem(cluster, wanted, force=bool(new.get("Force")))
            if problem is not None:
                raise Refused(": ".join(problem))
            _change(cluster, wanted)
        # What is there is what stays, whichever version the template has.
        result: Created = updated(
            physical_id, old, {**new, "Version": cluster["version"]}, stack, *names
        )
        return result

    def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> EksResponse:
        asked = _UPDATE.fullmatch(path)
        if asked is not None and method == "GET" and asked[1] in eks.clusters:
            return _describe_update(eks.clusters[asked[1]], asked[2])
        match = _UPDATES.fullmatch(path)
        if match is None or method != "POST" or match[1] not in eks.clusters:
            response: EksResponse = handled(method, path, headers, body, query)
            return response
        return _update_cluster_version(eks.clusters[match[1]], json.loads(body))

    handlers["update"] = update
    eks.handle_request_sync = handle


def _is_kept(cluster: Mapping[str, Any], wanted: str, *, stack: str, unknowns: EksUnknowns) -> bool:
    """Return whether an update by CloudFormation leaves the version alone."""
    if wanted == cluster["version"]:
        return unknowns.same == "kept"
    back = cloudformation.stacks[stack]["StackStatus"] == _ROLLBACK
    return back and unknowns.older_in_a_rollback == "kept"


def _problem(cluster: Mapping[str, Any], wanted: str, *, force: bool) -> tuple[str, str] | None:
    """Return code and message of EKS's refusal to change a cluster's version, or None.

    As worded in https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2607. What EKS
    finds in insights is an InvalidStateException (API reference, UpdateClusterVersion); how it
    words those of a rollback is not published.
    """
    version = cluster["version"]
    step = _minor(wanted) - _minor(version)
    goes_back = step == -1 and cluster.get(_FORMER) == wanted
    if step != 1 and not goes_back:
        return (
            "InvalidParameterException",
            f"Unsupported Kubernetes minor version update from {version} to {wanted}",
        )
    unfit = [*_addons_unfit(cluster["name"], wanted)] if goes_back and not force else []
    if unfit:
        return (
            "InvalidStateException",
            f"Rollback readiness insights have status ERROR: {', '.join(unfit)} not compatible "
            f"with {wanted}",
        )
    return None


def _addons_unfit(cluster_name: str, wanted: str) -> list[str]:
    addons = [each for key, each in eks.addons.items() if key.startswith(f"{cluster_name}/")]
    return [
        f"{addon['addonName']} {addon['addonVersion']}"
        for addon in addons
        if addon_versions.problem(addon, addon_name=addon["addonName"], kubernetes_version=wanted)
    ]


def _change(cluster: dict[str, Any], wanted: str) -> None:
    # A cluster that went back can go no further.
    rises = _minor(wanted) > _minor(cluster["version"])
    cluster[_FORMER] = cluster["version"] if rises else None
    cluster["version"] = wanted


def _update_cluster_version(cluster: dict[str, Any], body: Mapping[str, Any]) -> EksResponse:
    wanted = body["version"]
    problem = _problem(cluster, wanted, force=bool(body.get("force")))
    if problem is not None:
        refusal: EksResponse = eks.error(HTTPStatus.BAD_REQUEST, *problem)
        return refusal
    rises = _minor(wanted) > _minor(cluster["version"])
    _change(cluster, wanted)
    update = {
        "id": str(uuid.uuid4()),
        "status": "InProgress",
        "type": "VersionUpdate" if rises else "VersionRollback",
        "params": [{"type": "Version", "value": wanted}],
        "createdAt": time.time(),
        "errors": [],
    }
    response: EksResponse = eks.json_resp(HTTPStatus.OK, {"update": update})
    # It is in progress when it is described for the first time.
    cluster.setdefault(_MADE, {})[update["id"]] = update
    return response


def _describe_update(cluster: dict[str, Any], identifier: str) -> EksResponse:
    update = cluster.get(_MADE, {}).get(identifier)
    if update is None:
        refusal: EksResponse = eks.error(
            HTTPStatus.NOT_FOUND, "ResourceNotFoundException", f"No update found for {identifier}."
        )
        return refusal
    response: EksResponse = eks.json_resp(HTTPStatus.OK, {"update": update})
    cluster[_MADE][identifier] = {**update, "status": "Successful"}
    return response


def _minor(version: str) -> int:
    return int(version.split(".")[1])

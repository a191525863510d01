"""Workspaces of Amazon Managed Grafana, and the Identity Center whose users sign in to them.

https://docs.aws.amazon.com/grafana/latest/APIReference/Welcome.html
https://docs.aws.amazon.com/singlesignon/latest/APIReference/Welcome.html
"""

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from emulator.aws import json_service
from emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    Refused,
    ResourceType,
    tag_map,
)
from emulator.aws.iam import authorization
from emulator.aws.json_service import ServiceError
from emulator.aws.ministack import Response, get_account_id, get_region, responses
from emulator.aws.settings import WORKSPACE_ID

_WORKSPACES = responses.AccountRegionScopedDict()
_PATH = "/workspaces"
# Of accounts, by region: an account has one at most, and its organization another.
_INSTANCES: dict[str, dict[str, Any]] = {}


def _record(*, name: str, version: str, tags: Mapping[str, str]) -> dict[str, Any]:
    if get_account_id() not in _INSTANCES:
        # https://github.com/terraform-aws-modules/terraform-aws-managed-service-grafana/issues/30
        raise ServiceError("ValidationException", "SSO is not enabled in any region.")
    # A test names what a configuration names.
    identifier = tags.get(WORKSPACE_ID, f"g-{uuid4().hex[:10]}")
    record = {
        "id": identifier,
        "name": name,
        "status": "ACTIVE",
        "endpoint": f"{identifier}.grafana-workspace.{get_region()}.amazonaws.com",
        "grafanaVersion": version,
        "authentication": {"providers": ["AWS_SSO"]},
        "dataSources": [],
        "created": 0,
        "modified": 0,
        "tags": dict(tags),
    }
    _WORKSPACES[identifier] = record
    return record


def _attributes(record: Mapping[str, Any]) -> Created:
    found = {"Id": record["id"], "Endpoint": record["endpoint"], "Status": record["status"]}
    return record["id"], found


def _create(properties: Properties) -> Created:
    if not authorization.allows(
        role_arn=properties["RoleArn"],
        service="grafana.amazonaws.com",
        sent={"aws:SourceAccount": get_account_id()},
    ):
        raise Refused("ValidationException: The workspace role cannot be assumed by Grafana.")
    version = str(properties.get("GrafanaVersion", "10.4"))
    try:
        record = _record(name=properties["Name"], version=version, tags=tag_map(properties))
    except ServiceError as error:
        raise Refused(f"{error.code}: {error}") from None
    return _attributes(record)


def _update(physical_id: str, _old: Properties, new: Properties) -> Created:
    record = _WORKSPACES[physical_id]
    record |= {"name": new["Name"], "tags": tag_map(new)}
    return _attributes(record)


def _delete(physical_id: str, _properties: Properties) -> None:
    _WORKSPACES.pop(physical_id, None)


WORKSPACE = ResourceType(
    name="AWS::Grafana::Workspace", create=_create, update=_update, delete=_delete
)


def install() -> None:
    """Answer CreateWorkspace and DescribeWorkspace, and Identity Center's operations."""

    async def grafana(
        method: str, path: str, headers: Mapping[str, str], body: bytes, _query: Mapping[str, Any]
    ) -> Response:
        identifier = path.removeprefix(_PATH).strip("/")
        operation = "CreateWorkspace" if method == "POST" else "DescribeWorkspace"
        try:
            place = f"{get_region()}:{get_account_id()}"
            arn = f"arn:aws:grafana:{place}:/workspaces/{identifier}" if identifier else "*"
            authorization.require_caller(
                headers=headers, action=f"grafana:{operation}", resource=arn, context={}
            )
            if operation == "CreateWorkspace":
                request = json.loads(body)
                record = _record(
                    name=request["workspaceName"], version="10.4", tags=request.get("tags") or {}
                )
                return json_service.respond({"workspace": record})
            if identifier not in _WORKSPACES:
                raise ServiceError("ResourceNotFoundException", "Workspace not found")
            return json_service.respond({"workspace": _WORKSPACES[identifier]})
        except ServiceError as error:
            return json_service.respond_error(error)

    async def identity_center(
        _method: str,
        _path: str,
        headers: Mapping[str, str],
        _body: bytes,
        _query: Mapping[str, Any],
    ) -> Response:
        operation, account = json_service.operation(headers), get_account_id()
        try:
            authorization.require_caller(
                headers=headers, action=f"sso:{operation}", resource="*", context={}
            )
            if operation == "CreateInstance":
                arn = "arn:aws:sso:::instance/ssoins-0123456789abcdef"
                _INSTANCES[account] = {"InstanceArn": arn, "region": get_region()}
                return json_service.respond({"InstanceArn": arn})
            found = _INSTANCES.get(account)
            here = found is not None and found["region"] == get_region()
            listed = [{"InstanceArn": found["InstanceArn"]}] if here and found else []
            return json_service.respond({"Instances": listed})
        except ServiceError as error:
            return json_service.respond_error(error)

    # It has no X-Amz-Target: what signs a request names the service.
    json_service.register(service="grafana", target_prefix="grafana.", handler=grafana)
    json_service.register(
        service="sso", target_prefix="SWBExternalService", handler=identity_center
    )

"""Workspaces of Amazon Managed Grafana, and the Identity Center whose users sign in to them.

https://docs.aws.amazon.com/grafana/latest/APIReference/Welcome.html
https://docs.aws.amazon.com/singlesignon/latest/APIReference/Welcome.html
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hyperpod_emulator.aws import json_service
from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    tag_map,
)
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.json_service import Asked, Content, ServiceError
from hyperpod_emulator.aws.ministack import get_account_id, get_region, responses
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import WORKSPACE_ID

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


async def _grafana(asked: Asked) -> Content:
    """Answer CreateWorkspace and DescribeWorkspace."""
    identifier = asked.path.removeprefix(_PATH).strip("/")
    operation = "CreateWorkspace" if asked.method == "POST" else "DescribeWorkspace"
    place = f"{get_region()}:{get_account_id()}"
    arn = f"arn:aws:grafana:{place}:/workspaces/{identifier}" if identifier else "*"
    authorization.require_caller(headers=asked.headers, action=f"grafana:{operation}", resource=arn)
    if operation == "CreateWorkspace":
        name, tags = asked.request["workspaceName"], asked.request.get("tags") or {}
        return {"workspace": _record(name=name, version="10.4", tags=tags)}
    if identifier not in _WORKSPACES:
        raise ServiceError("ResourceNotFoundException", "Workspace not found")
    return {"workspace": _WORKSPACES[identifier]}


async def _identity_center(asked: Asked) -> Content:
    account = get_account_id()
    authorization.require_caller(
        headers=asked.headers, action=f"sso:{asked.operation}", resource="*"
    )
    if asked.operation == "CreateInstance":
        arn = "arn:aws:sso:::instance/ssoins-0123456789abcdef"
        _INSTANCES[account] = {"InstanceArn": arn, "region": get_region()}
        return {"InstanceArn": arn}
    found = _INSTANCES.get(account)
    here = found is not None and found["region"] == get_region()
    return {"Instances": [{"InstanceArn": found["InstanceArn"]}] if here and found else []}


def install() -> None:
    """Add both services to MiniStack."""
    # It has no X-Amz-Target: what signs a request names the service.
    json_service.register(service="grafana", target_prefix="grafana.", answer=_grafana)
    json_service.register(
        service="sso", target_prefix="SWBExternalService", answer=_identity_center
    )

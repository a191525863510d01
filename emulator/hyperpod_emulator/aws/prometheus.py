"""Workspaces of Amazon Managed Service for Prometheus: their resource type, and their API.

Nothing is written to them. https://docs.aws.amazon.com/prometheus/latest/APIReference/Welcome.html
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import yaml

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
from hyperpod_emulator.aws.settings import WORKSPACE_ID

_WORKSPACES = responses.AccountRegionScopedDict()
_PATH = "/workspaces"


def _record(*, alias: str | None, tags: Mapping[str, str]) -> dict[str, Any]:
    # A test names what a configuration names.
    identifier = tags.get(WORKSPACE_ID, f"ws-{uuid4()}")
    region = get_region()
    record = {
        "workspaceId": identifier,
        "arn": f"arn:aws:aps:{region}:{get_account_id()}:workspace/{identifier}",
        "status": {"statusCode": "ACTIVE"},
        "prometheusEndpoint": f"https://aps-workspaces.{region}.amazonaws.com/workspaces/{identifier}/",
        "tags": dict(tags),
        **({} if alias is None else {"alias": alias}),
    }
    _WORKSPACES[identifier] = record
    return record


def _attributes(record: Mapping[str, Any]) -> Created:
    return record["arn"], {
        "Arn": record["arn"],
        "WorkspaceId": record["workspaceId"],
        "PrometheusEndpoint": record["prometheusEndpoint"],
    }


def _require_alert_manager(properties: Properties) -> None:
    """Refuse an alert manager of which AWS says that it would tell no one."""
    # https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-config.html
    definition = properties.get("AlertManagerDefinition")
    if definition is None:
        return
    try:
        config = yaml.safe_load(yaml.safe_load(definition)["alertmanager_config"])
        receivers = {each["name"]: each["sns_configs"] for each in config["receivers"]}
        told = receivers[config["route"]["receiver"]]
        complete = all(each["sigv4"]["region"] and each["topic_arn"] for each in told)
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise ValueError(f"ValidationException: alert manager is not valid: {error!r}") from None
    if not complete:
        raise ValueError("ValidationException: a receiver lacks its region or topic")


def _create(properties: Properties) -> Created:
    _require_alert_manager(properties)
    return _attributes(_record(alias=properties.get("Alias"), tags=tag_map(properties)))


def _update(physical_id: str, _old: Properties, new: Properties) -> Created:
    _require_alert_manager(new)
    record = _WORKSPACES[physical_id.rpartition("/")[2]]
    record |= {"alias": new.get("Alias"), "tags": tag_map(new)}
    return _attributes(record)


def _delete(physical_id: str, _properties: Properties) -> None:
    _WORKSPACES.pop(physical_id.rpartition("/")[2], None)


WORKSPACE = ResourceType(name="AWS::APS::Workspace", create=_create, update=_update, delete=_delete)


def _rules(workspace: str, properties: Properties) -> Created:
    """Look at a namespace of rules as its service does."""
    # https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateRuleGroupsNamespace.html
    try:
        groups = yaml.safe_load(properties["Data"])["groups"]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise ValueError(f"ValidationException: rules definition is not valid: {error}") from None
    names = [group["name"] for group in groups]
    if len(names) != len({*names}):
        raise ValueError(f"ValidationException: groupname repeated in the same file: {names}")
    arn = f"{workspace.replace(':workspace/', ':rulegroupsnamespace/')}/{properties['Name']}"
    return arn, {"Arn": arn}


def _create_rules(properties: Properties) -> Created:
    identifier = properties["Workspace"].rpartition("/")[2]
    if identifier not in _WORKSPACES:
        raise ValueError(f"ResourceNotFoundException: Workspace not found: {identifier}")
    return _rules(properties["Workspace"], properties)


RULES = ResourceType(
    name="AWS::APS::RuleGroupsNamespace",
    create=_create_rules,
    update=lambda _physical_id, _old, new: _rules(new["Workspace"], new),
)


async def _answer(asked: Asked) -> Content:
    """Answer CreateWorkspace, ListWorkspaces and DescribeWorkspace."""
    identifier = asked.path.removeprefix(_PATH).strip("/")
    operation = "CreateWorkspace" if asked.method == "POST" else "ListWorkspaces"
    operation = "DescribeWorkspace" if identifier else operation
    authorization.require_caller(headers=asked.headers, action=f"aps:{operation}", resource="*")
    if operation == "CreateWorkspace":
        return _record(alias=asked.request.get("alias"), tags=asked.request.get("tags") or {})
    if not identifier:
        return {"workspaces": [*_WORKSPACES.values()]}
    if identifier not in _WORKSPACES:
        raise ServiceError("ResourceNotFoundException", "Workspace not found")
    return {"workspace": _WORKSPACES[identifier]}


def install() -> None:
    """Add the service to MiniStack."""
    # It has no X-Amz-Target: what signs a request names the service.
    json_service.register(service="aps", target_prefix="aps.", answer=_answer)

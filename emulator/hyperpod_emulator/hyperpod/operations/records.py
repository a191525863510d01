"""What is kept of a cluster: its events and its tags."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from hyperpod_emulator.hyperpod.operations.call import Answer, Backend, Call, Handler, page
from hyperpod_emulator.hyperpod.simulation.errors import resource_not_found, validation_error
from hyperpod_emulator.hyperpod.simulation.state import Cluster, Event


def _list(backend: Backend, call: Call) -> Answer:
    request = call.request
    cluster = _find(backend, call)
    wanted = {
        "group_name": request.get("InstanceGroupName"),
        "instance_id": request.get("NodeId"),
        "resource_type": request.get("ResourceType"),
    }
    events = [
        event
        for event in cluster.events
        if all(value in {None, getattr(event, name)} for name, value in wanted.items())
        and "OperationId" not in request
        and request.get("EventTimeAfter", -inf) < event.time < request.get("EventTimeBefore", inf)
    ]
    if request.get("SortOrder") != "Ascending":
        events.reverse()
    shown, more = page(events, request)
    return {"Events": [_summary(cluster, event) for event in shown], **more}


def _describe(backend: Backend, call: Call) -> Answer:
    cluster = _find(backend, call)
    wanted = call.request["EventId"]
    for event in cluster.events:
        if event.event_id == wanted:
            details = {"EventDetails": {"EventMetadata": dict(event.metadata)}}
            return {"EventDetails": {**_summary(cluster, event), **details}}
    message = f"Event '{wanted}' not found in cluster '{cluster.name}'."
    raise resource_not_found(message)


def _find(backend: Backend, call: Call) -> Cluster:
    cluster = backend.cluster_of(call)
    if not cluster.continuous:
        message = (
            f"Cluster '{cluster.name}' has no events: they are supported only with "
            "NodeProvisioningMode Continuous."
        )
        raise validation_error(message)
    return cluster


def _summary(cluster: Cluster, event: Event) -> dict[str, Any]:
    summary = {
        "EventId": event.event_id,
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "InstanceGroupName": event.group_name,
        "InstanceId": event.instance_id,
        "ResourceType": event.resource_type,
        "EventTime": event.time,
        "Description": event.description,
        "EventLevel": event.level,
    }
    return {name: value for name, value in summary.items() if value is not None}


# Most tags that a SageMaker resource can have (CreateCluster.Tags).
MAXIMUM_TAGS = 50


def _tags(backend: Backend, call: Call) -> dict[str, str]:
    return backend.registry.find(call.request["ResourceArn"], call.caller).tags


def _add_tags(backend: Backend, call: Call) -> Answer:
    tags = _tags(backend, call)
    added = {tag["Key"]: tag["Value"] for tag in call.request["Tags"]}
    reserved = [key for key in added if key.lower().startswith("aws:")]
    if reserved:
        message = f"Tag key '{reserved[0]}': the prefix 'aws:' is reserved."
        raise validation_error(message)
    if len(tags | added) > MAXIMUM_TAGS:
        message = f"A resource can have at most {MAXIMUM_TAGS} tags."
        raise validation_error(message)
    _change(backend, call, tags | added)
    return {"Tags": _listed(tags | added)}


def _list_tags(backend: Backend, call: Call) -> Answer:
    cluster = backend.registry.find(call.request["ResourceArn"], call.caller)
    visible = cluster.tags_at(call.now - backend.surroundings.unknowns.tag_lag)
    shown, more = page(_listed(visible), call.request)
    return {"Tags": list(shown), **more}


def _delete_tags(backend: Backend, call: Call) -> Answer:
    gone = set(call.request["TagKeys"])
    tags = _tags(backend, call)
    _change(backend, call, {key: value for key, value in tags.items() if key not in gone})
    return {}


def _change(backend: Backend, call: Call, tags: dict[str, str]) -> None:
    cluster = backend.registry.find(call.request["ResourceArn"], call.caller)
    cluster.former_tags.append((call.now, cluster.tags))
    cluster.tags = tags


def _listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


HANDLERS: Mapping[str, Handler] = {
    "ListClusterEvents": _list,
    "DescribeClusterEvent": _describe,
    "AddTags": _add_tags,
    "ListTags": _list_tags,
    "DeleteTags": _delete_tags,
}

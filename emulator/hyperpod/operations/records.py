"""What is kept of a cluster: its events and its tags."""

from __future__ import annotations

from typing import Any

from emulator.hyperpod.operations.call import Answer, Backend, Call, Handler, page, sort, within
from emulator.hyperpod.simulation.errors import resource_not_found, validation_error
from emulator.hyperpod.simulation.state import Cluster, Event


class EventOperations:
    """The operations that read events; HyperPod has them in Continuous provisioning only."""

    def __init__(self, *, backend: Backend) -> None:
        self._backend = backend

    @property
    def handlers(self) -> dict[str, Handler]:
        """Handlers by operation name."""
        return {"ListClusterEvents": self._list, "DescribeClusterEvent": self._describe}

    def _list(self, call: Call) -> Answer:
        request = call.request
        cluster = self._find(call)
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
            and within(event.time, request, after="EventTimeAfter", before="EventTimeBefore")
        ]
        # Events of the same instant keep their order, in either direction.
        order = {event.event_id: number for number, event in enumerate(events)}
        keys = {"EventTime": lambda event: (event.time, order[event.event_id])}
        shown, more = page(sort(events, request, keys=keys, default_order="Descending"), request)
        return {"Events": [_summary(cluster, event) for event in shown], **more}

    def _describe(self, call: Call) -> Answer:
        cluster = self._find(call)
        wanted = call.request["EventId"]
        for event in cluster.events:
            if event.event_id == wanted:
                details = {"EventDetails": {"EventMetadata": dict(event.metadata)}}
                return {"EventDetails": {**_summary(cluster, event), **details}}
        message = f"Event '{wanted}' not found in cluster '{cluster.name}'."
        raise resource_not_found(message)

    def _find(self, call: Call) -> Cluster:
        cluster = self._backend.cluster_of(call)
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


class TagOperations:
    """The tag operations."""

    def __init__(self, *, backend: Backend) -> None:
        self._backend = backend

    @property
    def handlers(self) -> dict[str, Handler]:
        """Handlers by operation name."""
        return {"AddTags": self._add, "ListTags": self._list, "DeleteTags": self._delete}

    def _tags(self, call: Call) -> dict[str, str]:
        return self._backend.registry.find(call.request["ResourceArn"], call.caller).tags

    def _add(self, call: Call) -> Answer:
        tags = self._tags(call)
        added = {tag["Key"]: tag["Value"] for tag in call.request["Tags"]}
        reserved = [key for key in added if key.lower().startswith("aws:")]
        if reserved:
            message = f"Tag key '{reserved[0]}': the prefix 'aws:' is reserved."
            raise validation_error(message)
        if len(tags | added) > MAXIMUM_TAGS:
            message = f"A resource can have at most {MAXIMUM_TAGS} tags."
            raise validation_error(message)
        self._change(call, tags | added)
        return {"Tags": _listed(tags | added)}

    def _list(self, call: Call) -> Answer:
        cluster = self._backend.registry.find(call.request["ResourceArn"], call.caller)
        visible = cluster.tags_at(call.now - self._backend.surroundings.unknowns.tag_lag)
        shown, more = page(_listed(visible), call.request)
        return {"Tags": list(shown), **more}

    def _delete(self, call: Call) -> Answer:
        gone = set(call.request["TagKeys"])
        tags = self._tags(call)
        self._change(call, {key: value for key, value in tags.items() if key not in gone})
        return {}

    def _change(self, call: Call, tags: dict[str, str]) -> None:
        cluster = self._backend.registry.find(call.request["ResourceArn"], call.caller)
        cluster.former_tags.append((call.now, cluster.tags))
        cluster.tags = tags


def _listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]

"""List, describe, add, delete, replace and reboot nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.hyperpod.group_rules import check_quotas
from hyperpod_emulator.hyperpod.operations.call import (
    Answer,
    Backend,
    Call,
    Handler,
    creation_time,
    describe_node,
    page,
    summarize_node,
)
from hyperpod_emulator.hyperpod.simulation.errors import resource_not_found, validation_error
from hyperpod_emulator.hyperpod.simulation.nodes import LocatedNode
from hyperpod_emulator.hyperpod.simulation.slurm_nodes import is_controller
from hyperpod_emulator.hyperpod.simulation.state import Cluster, InstanceGroup, Node


def _list(backend: Backend, call: Call) -> Answer:
    request = call.request
    cluster = backend.registry.find(request["ClusterName"], call.caller)
    everything = bool(request.get("IncludeNodeLogicalIds"))
    nodes = [
        node
        for node in cluster.nodes
        if (everything or node.instance_id is not None)
        and request.get("InstanceGroupNameContains", "") in node.group_name
    ]
    shown, more = page(sorted(nodes, key=creation_time), request)
    summaries = [summarize_node(cluster, node, with_logical_id=everything) for node in shown]
    return {"ClusterNodeSummaries": summaries, **more}


def _describe(backend: Backend, call: Call) -> Answer:
    request = call.request
    cluster = backend.registry.find(request["ClusterName"], call.caller)
    if ("NodeId" in request) == ("NodeLogicalId" in request):
        message = "Exactly one of NodeId and NodeLogicalId must be specified."
        raise validation_error(message)
    wanted = request.get("NodeId") or request["NodeLogicalId"]
    for node in cluster.nodes:
        if wanted in {node.instance_id, node.logical_id}:
            return {"NodeDetails": describe_node(cluster, node)}
    message = f"Node '{wanted}' not found in cluster '{cluster.name}'."
    raise resource_not_found(message)


# Most nodes of one BatchAddClusterNodes call, over all its instance groups (API reference).
MAXIMUM_ADDED = 50
BUSY = frozenset({"ShuttingDown", "SystemUpdating"})


@dataclass(frozen=True, slots=True)
class Codes:
    """How an operation names what is wrong with one of the nodes that it was given."""

    member: str
    not_found: str
    invalid_status: str
    in_use: str


DELETE_CODES = Codes(
    member="Code",
    not_found="NodeIdNotFound",
    invalid_status="InvalidNodeStatus",
    in_use="NodeIdInUse",
)
REPAIR_CODES = Codes(
    member="ErrorCode",
    not_found="InstanceIdNotFound",
    invalid_status="InvalidInstanceStatus",
    in_use="InstanceIdInUse",
)


def _add(backend: Backend, call: Call) -> Answer:
    request = call.request
    cluster = backend.cluster_of(call)
    if not cluster.continuous:
        message = "BatchAddClusterNodes needs a cluster with NodeProvisioningMode Continuous."
        raise validation_error(message)
    token = request.get("ClientToken")
    if token in cluster.client_tokens:
        added = cluster.client_tokens[token]
        return {"Successful": [_added(node) for node in added], "Failed": []}
    _check_added(backend, request, cluster, call)
    successful: list[Node] = []
    failed = []
    for addition in request["NodesToAdd"]:
        code = _refusal(cluster, addition["InstanceGroupName"])
        if code is None:
            successful += _grow(backend, cluster, addition, call.now)
        else:
            failed.append(_not_added(addition, code=code))
    if token is not None:
        cluster.client_tokens[token] = successful
    return {"Successful": [_added(node) for node in successful], "Failed": failed}


def _check_added(
    backend: Backend, request: Mapping[str, Any], cluster: Cluster, call: Call
) -> None:
    wanted: Counter[str] = Counter()
    for addition in request["NodesToAdd"]:
        group = cluster.groups.get(addition["InstanceGroupName"])
        if group is not None:
            wanted[group.instance_type] += addition["IncrementTargetCountBy"]
    total = sum(addition["IncrementTargetCountBy"] for addition in request["NodesToAdd"])
    if total > MAXIMUM_ADDED:
        message = f"At most {MAXIMUM_ADDED} nodes can be added in one call, not {total}."
        raise validation_error(message)
    check_quotas(
        limits=backend.faults.current.quotas,
        clusters=backend.registry.of(call.caller),
        wanted=wanted,
    )


def _grow(
    backend: Backend, cluster: Cluster, addition: Mapping[str, Any], now: float
) -> list[Node]:
    group = cluster.groups[addition["InstanceGroupName"]]
    count = len(group.nodes)
    group.target_count += addition["IncrementTargetCountBy"]
    backend.lifecycle.reconcile(cluster, group, now)
    return group.nodes[count:]


def _delete(backend: Backend, call: Call) -> Answer:
    lifecycle = backend.lifecycle

    def act(place: LocatedNode) -> None:
        place.group.target_count -= 1
        lifecycle.nodes.stop(place, call.now)

    answer = _for_each(backend, call, act, codes=DELETE_CODES, spared=is_controller)
    return {name: entries for name, entries in answer.items() if entries}


def _replace(backend: Backend, call: Call) -> Answer:
    def act(place: LocatedNode) -> None:
        reason = "BatchReplaceClusterNodes was called"
        backend.lifecycle.nodes.replace(place, call.now, reason=reason)

    return _repair(backend, call, act, spared=is_controller)


def _reboot(backend: Backend, call: Call) -> Answer:
    def act(place: LocatedNode) -> None:
        backend.lifecycle.nodes.reboot(place, call.now)

    return _repair(backend, call, act)


def _repair(
    backend: Backend,
    call: Call,
    act: Callable[[LocatedNode], None],
    *,
    spared: Callable[[InstanceGroup], bool] = lambda _: False,
) -> Answer:
    if "NodeLogicalIds" in call.request and not backend.cluster_of(call).continuous:
        message = "NodeLogicalIds needs a cluster with NodeProvisioningMode Continuous."
        raise validation_error(message)
    answer = _for_each(backend, call, act, codes=REPAIR_CODES, spared=spared, joined_only=True)
    required = {"Failed", "FailedNodeLogicalIds"}
    return {name: value for name, value in answer.items() if value or name in required}


def _for_each(
    backend: Backend,
    call: Call,
    act: Callable[[LocatedNode], None],
    *,
    codes: Codes,
    spared: Callable[[InstanceGroup], bool],
    joined_only: bool = False,
) -> dict[str, list[Any]]:
    cluster = backend.cluster_of(call)
    if not {"NodeIds", "NodeLogicalIds"} & set(call.request):
        message = "At least one of NodeIds and NodeLogicalIds must be specified."
        raise validation_error(message)
    answer: dict[str, list[Any]] = {}
    for given, suffix, member in (
        ("NodeIds", "", "NodeId"),
        ("NodeLogicalIds", "NodeLogicalIds", "NodeLogicalId"),
    ):
        done: list[Any] = answer.setdefault(f"Successful{suffix}", [])
        failed: list[Any] = answer.setdefault(f"Failed{suffix}", [])
        for identifier in call.request.get(given, []):
            place = _place(cluster, identifier)
            wrong = _wrong_with(cluster, place, codes=codes, joined_only=joined_only)
            # "[...] you cannot replace instances that are configured as Slurm controller
            # nodes", nor delete them (API reference); with which code is not published.
            if place is not None and spared(place.group):
                wrong = codes.invalid_status
            if place is None or wrong:
                message = f"Node '{identifier}' in cluster '{cluster.name}': {wrong}."
                failed.append({codes.member: wrong, "Message": message, member: identifier})
            else:
                act(place)
                done.append(identifier)
    return answer


def _place(cluster: Cluster, identifier: str) -> LocatedNode | None:
    for group in cluster.groups.values():
        for node in group.nodes:
            if identifier in {node.instance_id, node.logical_id}:
                return LocatedNode(cluster, group, node)
    return None


def _wrong_with(
    cluster: Cluster, place: LocatedNode | None, *, codes: Codes, joined_only: bool
) -> str | None:
    if place is None:
        return codes.not_found
    # "Another operation is already in progress for this node": it is being rebooted.
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchRebootClusterNodesError.html
    if place.node.rebooting:
        return codes.in_use
    busy = place.node.status in BUSY or (joined_only and not place.node.joined)
    return codes.invalid_status if busy or cluster.status != "InService" else None


def _refusal(cluster: Cluster, group_name: str) -> str | None:
    group = cluster.groups.get(group_name)
    if group is None:
        return "InstanceGroupNotFound"
    usable = cluster.status == "InService" and not group.deleting
    return None if usable else "InvalidInstanceGroupStatus"


def _added(node: Node) -> dict[str, Any]:
    return {
        "NodeLogicalId": node.logical_id,
        "InstanceGroupName": node.group_name,
        "Status": node.status,
    }


def _not_added(addition: Mapping[str, Any], *, code: str) -> dict[str, Any]:
    name = addition["InstanceGroupName"]
    return {
        "InstanceGroupName": name,
        "ErrorCode": code,
        "FailedCount": addition["IncrementTargetCountBy"],
        "Message": f"No nodes were added to instance group '{name}': {code}.",
    }


HANDLERS: Mapping[str, Handler] = {
    "ListClusterNodes": _list,
    "DescribeClusterNode": _describe,
    "BatchAddClusterNodes": _add,
    "BatchDeleteClusterNodes": _delete,
    "BatchReplaceClusterNodes": _replace,
    "BatchRebootClusterNodes": _reboot,
}

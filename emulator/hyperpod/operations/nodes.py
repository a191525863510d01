"""List and describe nodes."""

from __future__ import annotations

from emulator.hyperpod.operations.call import Answer, Backend, Call, Handler, page, sort, within
from emulator.hyperpod.operations.descriptions import creation_time, describe_node, summarize_node
from emulator.hyperpod.simulation.errors import resource_not_found, validation_error


class NodeOperations:
    """The operations that read nodes."""

    def __init__(self, *, backend: Backend) -> None:
        self._backend = backend

    @property
    def handlers(self) -> dict[str, Handler]:
        """Handlers by operation name."""
        return {"ListClusterNodes": self._list, "DescribeClusterNode": self._describe}

    def _list(self, call: Call) -> Answer:
        request = call.request
        cluster = self._backend.registry.find(request["ClusterName"], call.caller)
        everything = bool(request.get("IncludeNodeLogicalIds"))
        nodes = [
            node
            for node in cluster.nodes
            if (everything or node.instance_id is not None)
            and request.get("InstanceGroupNameContains", "") in node.group_name
            and within(
                creation_time(node),
                request,
                after="CreationTimeAfter",
                before="CreationTimeBefore",
            )
        ]
        keys = {"CREATION_TIME": creation_time, "NAME": lambda node: node.instance_id or ""}
        shown, more = page(sort(nodes, request, keys=keys), request)
        summaries = [summarize_node(cluster, node, with_logical_id=everything) for node in shown]
        return {"ClusterNodeSummaries": summaries, **more}

    def _describe(self, call: Call) -> Answer:
        request = call.request
        cluster = self._backend.registry.find(request["ClusterName"], call.caller)
        if ("NodeId" in request) == ("NodeLogicalId" in request):
            message = "Exactly one of NodeId and NodeLogicalId must be specified."
            raise validation_error(message)
        wanted = request.get("NodeId") or request["NodeLogicalId"]
        for node in cluster.nodes:
            if wanted in {node.instance_id, node.logical_id}:
                return {"NodeDetails": describe_node(cluster, node)}
        message = f"Node '{wanted}' not found in cluster '{cluster.name}'."
        raise resource_not_found(message)

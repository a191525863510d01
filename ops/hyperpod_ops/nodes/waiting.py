"""Waits until what was begun with nodes is done."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_ops.clusters.cluster import Node, nodes_of
from hyperpod_ops.errors import OpsError
from hyperpod_ops.explained import explanation
from hyperpod_ops.nodes.actions import DELETE, REBOOT, Action
from hyperpod_ops.nodes.health import RUNNING
from provisioner.aws.errors import is_denied

# A restart may be over between two looks, and a list may lag behind: a node that has been Running
# for this long after the call has restarted, which takes 1 to 3 minutes.
_UNSEEN_SECONDS = 300.0
_LOOK = "looking at the nodes"


@dataclass(kw_only=True, slots=True)
class Watched:
    """Nodes to which something happens, and what was seen of it.

    Attributes:
        action: What happens to them.
        nodes: The nodes, as they were before.
        running: How many nodes of each group worked before.
        left: IDs of those that were seen not Running.
    """

    action: Action
    nodes: Sequence[Node]
    running: Mapping[str, int]
    left: set[str] = field(default_factory=set)

    def unfinished(self, found: Sequence[Node], *, seconds: float) -> dict[str, str]:
        """Return what is not done yet, by the name of a node or a group.

        Args:
            found: All nodes of the cluster as they are now.
            seconds: How long ago the call was.
        """
        now = {(node.id, node.launched): node for node in found}
        old = [node for node in self.nodes if (node.id, node.launched) in now]
        if self.action is REBOOT:
            return self._not_restarted([now[node.id, node.launched] for node in old], seconds)
        waiting = {node.id: now[node.id, node.launched].status for node in old}
        if self.action is DELETE:
            return waiting
        return waiting | self._short(found, old)

    def _not_restarted(self, nodes: Sequence[Node], seconds: float) -> dict[str, str]:
        self.left |= {node.id for node in nodes if node.status != RUNNING}
        passed = seconds >= _UNSEEN_SECONDS
        return {
            node.id: node.status
            for node in nodes
            if node.status != RUNNING or not (passed or node.id in self.left)
        }

    def _short(self, found: Sequence[Node], old: Sequence[Node]) -> dict[str, str]:
        gone = {(node.id, node.launched) for node in old}
        short = {}
        for group in dict.fromkeys(node.group for node in self.nodes):
            there = sum(
                node.status == RUNNING and (node.id, node.launched) not in gone
                for node in found
                if node.group == group
            )
            if there < self.running[group]:
                short[group] = f"{there} of {self.running[group]} nodes are Running"
        return short


def watched(action: Action, nodes: Sequence[Node], *, among: Sequence[Node]) -> Watched:
    """Return nodes to be watched.

    Args:
        action: What is done to them.
        nodes: The nodes.
        among: All nodes of the cluster before the call.
    """
    ids = {node.id for node in nodes}
    running = {
        group: sum(
            each.group == group and (each.status == RUNNING or each.id in ids) for each in among
        )
        for group in {node.group for node in nodes}
    }
    return Watched(action=action, nodes=nodes, running=running)


def wait(
    sagemaker: Any,  # noqa: ANN401 - a client
    watched: Watched,
    *,
    cluster: str,
    show: Callable[[str], None],
    seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Return when it is done; show each change on the way.

    Args:
        sagemaker: Client of SageMaker.
        watched: The nodes.
        cluster: Name of their cluster.
        show: Shows a line.
        seconds: Between two looks.
        sleep: Waits so many seconds.
        clock: Tells seconds.

    Raises:
        OpsError: It is not done by the deadline.
        ClientError: The nodes may not be listed.
    """
    begun = clock()
    shown: dict[str, str] = {}
    while True:
        passed = clock() - begun
        try:
            waiting = watched.unfinished(nodes_of(sagemaker, cluster), seconds=passed)
        except (BotoCoreError, ClientError) as error:
            if is_denied(error):
                raise
            waiting = {**shown, _LOOK: explanation(error)}
        for name in {**shown, **waiting}:
            if shown.get(name) != waiting.get(name):
                show(f"{name}: {waiting.get(name, 'done')}")
        if not waiting:
            return
        if passed >= watched.action.minutes * 60:
            raise OpsError(
                f"{watched.action.name}: not done after {watched.action.minutes:.0f} minutes: "
                f"{_list(waiting)}; HyperPod goes on: see `hyperpod-ops status` and "
                "`hyperpod-ops events`"
            )
        shown = waiting
        sleep(seconds)


def _list(waiting: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {status}" for name, status in waiting.items())

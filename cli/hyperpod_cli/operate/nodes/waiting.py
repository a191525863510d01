"""Waits until what was begun with nodes is done."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cli.operate.clusters import ClusterNode, DescribedCluster, nodes_of
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, NodeAction
from hyperpod_cli.operate.nodes.health import NOT_READY, RUNNING, Health, trouble_of
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.aws_errors import is_denied

# A restart may be over between two looks, SageMaker may list the node as Running all the time, and
# a list may lag behind: a node that has been Running for this long after the call has restarted,
# which takes 1 to 3 minutes.
_UNSEEN_SECONDS = 300.0
_LOOK = "looking at the nodes"


@dataclass(kw_only=True, slots=True)
class Watched:
    """Nodes to which something happens, and what was seen of it.

    Attributes:
        among: All nodes of the cluster, as they were before.
        health: What Kubernetes knew of them before, by the name of the Node; empty if nothing.
        left: IDs of those that were seen not Running, not Ready, or started again.
    """

    action: NodeAction
    nodes: Sequence[ClusterNode]
    among: Sequence[ClusterNode]
    health: Mapping[str, Health] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)

    def unfinished(
        self, nodes: Sequence[ClusterNode], *, seconds: float, health: Mapping[str, Health]
    ) -> dict[str, str]:
        """Return what is not done so many seconds after the call, by a node or a group."""
        now = {(node.id, node.launched): node for node in nodes}
        old = [node for node in self.nodes if (node.id, node.launched) in now]
        if self.action is REBOOT:
            current = [now[node.id, node.launched] for node in old]
            return dict(self._not_restarted(current, seconds=seconds, health=health))
        waiting = {node.id: now[node.id, node.launched].status for node in old}
        if self.action is DELETE:
            return waiting
        return waiting | self._short(nodes, old)

    def _not_restarted(
        self, nodes: Sequence[ClusterNode], *, seconds: float, health: Mapping[str, Health]
    ) -> Iterator[tuple[str, str]]:
        for node in nodes:
            known = health.get(node.kubernetes_name)
            silent = known is not None and not known.ready
            if node.status != RUNNING or silent or self._started_again(node, known):
                self.left.add(node.id)
            if node.status != RUNNING or not (node.id in self.left or seconds >= _UNSEEN_SECONDS):
                yield node.id, node.status
            elif silent:
                yield node.id, NOT_READY

    def _started_again(self, node: ClusterNode, known: Health | None) -> bool:
        """Say whether its kernel has started since, which may be all that there is to see."""
        before = self.health.get(node.kubernetes_name)
        return (
            before is not None
            and known is not None
            and bool(before.boot_id and known.boot_id)
            and before.boot_id != known.boot_id
        )

    def _short(self, nodes: Sequence[ClusterNode], old: Sequence[ClusterNode]) -> dict[str, str]:
        gone = {(node.id, node.launched) for node in old}
        short = {}
        for group in dict.fromkeys(node.group for node in self.nodes):
            there = sum(
                node.status == RUNNING and (node.id, node.launched) not in gone
                for node in nodes
                if node.group == group
            )
            # What is replaced worked, or is to.
            before = sum(
                former.group == group and (former.status == RUNNING or former in self.nodes)
                for former in self.among
            )
            if there < before:
                counts = f"{there} of {before} nodes are Running"
                short[group] = "; ".join([counts, *_reasons(nodes, group)])
        return short


def _reasons(nodes: Sequence[ClusterNode], group: str) -> Iterator[str]:
    """Yield why nodes of a group have no instance yet, each reason once."""
    requested = (node for node in nodes if node.group == group and not node.id and node.message)
    yield from dict.fromkeys(trouble_of(node, None, recovers=True) for node in requested)


def wait(
    sagemaker: Any,  # noqa: ANN401 - a client
    watched: Watched,
    *,
    cluster: DescribedCluster,
    health: Callable[[], Mapping[str, Health]],
    show: Callable[[str], None],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Return when it is done; show each change on the way, and refuse to wait past the deadline.

    `health` returns what Kubernetes knows of the nodes, by the name of the Node; nothing if it
    cannot be reached. ClientError: the nodes may not be listed.
    """
    begun = clock()
    shown: dict[str, str] = {}
    while True:
        passed = clock() - begun
        try:
            nodes = nodes_of(sagemaker, cluster.name, requested=cluster.is_continuous)
            waiting = watched.unfinished(nodes, seconds=passed, health=health())
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
            left = ", ".join(f"{name} {status}" for name, status in waiting.items())
            raise OpsError(
                f"{watched.action.name}: not done after {watched.action.minutes:.0f} minutes: "
                f"{left}; HyperPod continues: see `hyperpod-cdk status` and `hyperpod-cdk events`"
            )
        shown = waiting
        time.sleep(seconds)

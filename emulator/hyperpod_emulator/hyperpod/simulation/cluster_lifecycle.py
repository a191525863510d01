"""How clusters come, change, fail, roll back and go, and recover the nodes that a label marks.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-manual.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.hyperpod.simulation import slurm_nodes
from hyperpod_emulator.hyperpod.simulation.event_log import record
from hyperpod_emulator.hyperpod.simulation.nodes import LocatedNode, NodeProvisioner, node_view
from hyperpod_emulator.hyperpod.simulation.state import Cluster, InstanceGroup, Node
from hyperpod_emulator.hyperpod.simulation.surroundings import Surroundings

MOVING = frozenset({"Creating", "Updating", "RollingBack"})
SERVICE_FAILURE = (
    "Request to service failed. If failure persists after retry, contact customer support."
)
# Events of groups that fail with the controller come this much later than the controller's own.
CASCADE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class GroupBefore:
    """An instance group as it was before an update; no spec: it did not exist."""

    spec: Mapping[str, Any] | None
    target_count: int


class ClusterLifecycle:
    """The state machine of clusters.

    A classic cluster is InService when all its nodes run, and fails (or rolls an update back)
    as a whole. A Continuous one is InService when its cluster-level resources are ready, and with
    Slurm its controller; its nodes come afterwards and are retried for ever.
    """

    def __init__(self, *, surroundings: Surroundings) -> None:
        self._around = surroundings
        self.nodes = NodeProvisioner(surroundings=surroundings, listener=self)
        self._before: dict[str, dict[str, GroupBefore]] = {}

    def create(self, cluster: Cluster, now: float) -> None:
        """Begin to create a cluster whose groups are set."""
        cluster.status = "Creating"
        before = {name: GroupBefore(spec=None, target_count=0) for name in cluster.groups}
        self._before[cluster.arn] = before
        record(cluster, time=now, description=f"Cluster {cluster.name} is being created")
        self._around.agenda.at(now + self._around.timings.create, self._bind(cluster, self._ready))

    def update(self, cluster: Cluster, now: float, *, before: dict[str, GroupBefore]) -> None:
        """Begin to bring a cluster to the groups that have just been set."""
        cluster.status, cluster.failure_message, cluster.provisioning = "Updating", None, False
        self._before[cluster.arn] = before
        for group in cluster.groups.values():
            if group.status == "Failed":
                group.status = "Updating"
        record(cluster, time=now, description=f"Cluster {cluster.name} is being updated")
        self._around.agenda.at(now + self._around.timings.update, self._bind(cluster, self._ready))

    def delete(self, cluster: Cluster, now: float, *, gone: Callable[[Cluster], None]) -> None:
        """Begin to delete a cluster; `gone` is called when nothing is left of it."""
        cluster.status, cluster.provisioning = "Deleting", False
        record(cluster, time=now, description=f"Cluster {cluster.name} is being deleted")
        for group in cluster.groups.values():
            group.status, group.deleting = "Deleting", True
            for node in group.nodes:
                node.epoch += 1
                node.status, node.leaving = "ShuttingDown", True

        def finish(_: float) -> None:
            for group in cluster.groups.values():
                self._remove_nodes(cluster, group, only_pending=False)
            del self._before[cluster.arn]
            gone(cluster)

        self._around.agenda.at(now + self._around.timings.delete, finish)

    def reconcile(self, cluster: Cluster, group: InstanceGroup, now: float) -> None:
        """Request or stop nodes until the group has as many as wanted."""
        staying = [node for node in group.nodes if not node.leaving]
        wanted = 0 if group.deleting else group.target_count
        if len(staying) != wanted:
            description = f"InstanceGroup {group.name} is scaling from {len(staying)} to {wanted}"
            record(cluster, group, time=now, description=description)
            # It says nothing of a failure: awslabs/awsome-distributed-ai, hyperpod-mental-model.md.
            record(
                cluster,
                group,
                time=now,
                level="Warn",
                description=(
                    f"{abs(wanted - len(staying))} node(s) lost orchestration-ready status. "
                    f"Current: {group.current_count}/{wanted} orchestration-ready across 1 "
                    "instance group(s)."
                ),
                failure_message=SERVICE_FAILURE,
            )
        for _ in range(wanted - len(staying)):
            self.nodes.request(cluster, group, now)
        # Those that do not run yet go first, then the youngest.
        staying.sort(key=lambda node: (node.joined, -node.requested_at))
        for node in staying[: max(0, len(staying) - wanted)]:
            self.nodes.stop(LocatedNode(cluster, group, node), now)

    def node_settled(self, cluster: Cluster, now: float) -> None:
        """Take note that nodes have begun to run or are gone."""
        if not cluster.provisioning:
            return
        for group in list(cluster.groups.values()):
            if group.name in cluster.waiting_groups and slurm_nodes.may_begin(cluster, group):
                self._begin(cluster, group, now)
            self._settle_group(cluster, group, now)
        if cluster.status not in MOVING:
            return
        if cluster.continuous:
            self._show_operational(cluster, now)
        elif all(group.settled for group in cluster.groups.values()):
            cluster.status = "InService"

    def node_failed(self, cluster: Cluster, group: InstanceGroup, message: str, now: float) -> bool:
        """Take note that a node could not be provisioned."""
        if cluster.status == "Creating" and slurm_nodes.is_controller(group):
            self._fail_with_controller(cluster, group, message, now)
            return False
        if cluster.continuous or cluster.status not in MOVING:
            if group.status == "InService":
                group.status = "Degraded"
            return True
        if cluster.status == "Updating":
            self._roll_back(cluster, message, now)
        else:
            self._fail(cluster, message, failed_group=group)
        return False

    def _ready(self, cluster: Cluster, now: float) -> None:
        failure = self._around.faults.current.create_failure
        if cluster.status == "Creating" and failure is not None:
            description = f"Cluster {cluster.name} could not be created"
            record(
                cluster, time=now, level="Error", description=description, failure_message=failure
            )
            self._fail(cluster, failure)
            return
        if cluster.status == "Updating" and slurm_nodes.has_drifted(cluster):
            # "[...] the next UpdateCluster fails and rolls back, and DescribeCluster reports the
            # drift in FailureMessage": sagemaker-hyperpod-slurm-api-config-migration.
            self._roll_back(cluster, slurm_nodes.DRIFT, now)
            return
        cluster.slurm_conf_edited &= not slurm_nodes.overwrites(cluster)
        cluster.provisioning = True
        if cluster.continuous:
            self._show_operational(cluster, now)
        self._start_autoscaling(cluster, now)
        cluster.waiting_groups = set(cluster.groups)
        for group in list(cluster.groups.values()):
            self._show_changed_labels(cluster, group)
            if group.deleting or slurm_nodes.may_begin(cluster, group):
                self._begin(cluster, group, now)
        self.node_settled(cluster, now)

    def _begin(self, cluster: Cluster, group: InstanceGroup, now: float) -> None:
        cluster.waiting_groups.discard(group.name)
        self.reconcile(cluster, group, now)
        if cluster.continuous and "MinInstanceCount" in group.spec:
            self._watch_minimum(cluster, group, now)

    def _start_autoscaling(self, cluster: Cluster, now: float) -> None:
        """Let the managed Karpenter come, or go.

        Node classes can be applied once it is in service: the launch post, "Introducing auto
        scaling on Amazon SageMaker HyperPod" of the AWS Machine Learning Blog. Whether that is
        before the cluster is in service, and what becomes of its definitions when it is switched
        off, is not published; here it is later, and they stay.
        """
        wanted = cluster.settings.get("AutoScaling", {}).get("Mode") == "Enable"
        if not wanted or cluster.autoscaling:
            cluster.autoscaling = wanted
            return

        def start(_: float) -> None:
            cluster.autoscaling = True
            self._around.observer.autoscaling_started()

        self._around.agenda.at(now + self._around.timings.autoscaling, start)

    @staticmethod
    def _show_operational(cluster: Cluster, now: float) -> None:
        """Show a Continuous cluster as InService when what it must have runs."""
        if slurm_nodes.is_operational(cluster):
            cluster.status = "InService"
            description = f"Cluster {cluster.name} is InService"
            record(cluster, time=now, description=description)

    def _fail_with_controller(
        self, cluster: Cluster, controller: InstanceGroup, message: str, now: float
    ) -> None:
        """Fail a cluster that is created and whose controller could not be provisioned.

        "The cluster is marked as Failed. You are notified of the failure reason":
        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html#sagemaker-hyperpod-scaling-slurm-controller-failure.
        Of the errors that it calls retryable, none is simulated for a controller. That each other
        group fails with it is believed, and what is said of it.
        """
        self._fail(cluster, message)

        def cascade(later: float) -> None:
            for group in cluster.groups.values():
                if group is not controller:
                    record(
                        cluster,
                        group,
                        time=later,
                        level="Error",
                        description=f"InstanceGroup {group.name} could not be provisioned",
                        failure_message=SERVICE_FAILURE,
                    )

        self._around.agenda.at(now + CASCADE_SECONDS, cascade)

    def _show_changed_labels(self, cluster: Cluster, group: InstanceGroup) -> None:
        before = self._before[cluster.arn].get(group.name)
        if before is None or before.spec is None:
            return
        if before.spec.get("KubernetesConfig") != group.spec.get("KubernetesConfig"):
            for node in group.nodes:
                self.nodes.show(LocatedNode(cluster, group, node))

    def _settle_group(self, cluster: Cluster, group: InstanceGroup, now: float) -> None:
        if group.deleting:
            if not group.nodes:
                del cluster.groups[group.name]
                description = f"InstanceGroup {group.name} was deleted"
                record(cluster, time=now, description=description)
            return
        if group.status in {"InService", "Failed"}:
            return
        enough = cluster.continuous and group.current_count >= group.minimum_count
        if group.settled or (enough and group.status != "Degraded"):
            group.status = "InService"
            description = f"InstanceGroup {group.name} is InService"
            record(cluster, group, time=now, description=description)

    def _watch_minimum(self, cluster: Cluster, group: InstanceGroup, now: float) -> None:
        epoch = group.epoch
        before = self._before[cluster.arn].get(group.name)

        def check(later: float) -> None:
            if group.epoch != epoch or group.deleting or before is None:
                return
            if group.current_count >= group.minimum_count:
                return
            message = (
                f"Instance group {group.name} has {group.current_count} of at least "
                f"{group.minimum_count} instances; it is rolled back to its previous state."
            )
            description = f"InstanceGroup {group.name} did not reach MinInstanceCount"
            record(
                cluster,
                group,
                time=later,
                level="Error",
                description=description,
                failure_message=message,
            )
            group.spec = before.spec or group.spec
            group.target_count, group.status = before.target_count, "Failed"
            self.reconcile(cluster, group, later)

        self._around.agenda.at(now + self._around.timings.minimum_count, check)

    def _fail(
        self, cluster: Cluster, message: str, *, failed_group: InstanceGroup | None = None
    ) -> None:
        cluster.status, cluster.failure_message, cluster.provisioning = "Failed", message, False
        for group in cluster.groups.values():
            if failed_group in {None, group}:
                group.status = "Failed"
            self._remove_nodes(cluster, group, only_pending=False)

    def _roll_back(self, cluster: Cluster, message: str, now: float) -> None:
        cluster.status, cluster.failure_message = "RollingBack", message
        cluster.provisioning = False
        for name, before in self._before[cluster.arn].items():
            group = cluster.groups[name]
            group.deleting = before.spec is None
            group.spec = before.spec or group.spec
            group.target_count = before.target_count
            self._remove_nodes(cluster, group, only_pending=True)
        self._around.agenda.at(now + self._around.timings.update, self._bind(cluster, self._ready))

    def _remove_nodes(self, cluster: Cluster, group: InstanceGroup, *, only_pending: bool) -> None:
        for node in list(group.nodes):
            if not (only_pending and node.joined):
                self.nodes.remove(LocatedNode(cluster, group, node))

    @staticmethod
    def _bind(
        cluster: Cluster, action: Callable[[Cluster, float], None]
    ) -> Callable[[float], None]:
        return lambda now: action(cluster, now)


PENDING_REBOOT, PENDING_REPLACEMENT = (
    "UnschedulablePendingReboot",
    "UnschedulablePendingReplacement",
)

_REPAIRS = {PENDING_REBOOT: "Reboot", PENDING_REPLACEMENT: "Replace"}


def recover_marked(
    clusters: Iterable[Cluster],
    *,
    marked: Mapping[str, str],
    lifecycle: ClusterLifecycle,
    found_faulty: Callable[..., None],
    now: float,
) -> None:
    """Reboot or replace each running node that is marked, unless the cluster recovers none.

    Marked is the node-health-status of nodes, by the name of the Kubernetes Node. A faulty node is
    announced: the agent that marks nodes does; whether HyperPod does for a label set by hand is not
    known.
    """
    for cluster in clusters:
        if cluster.settings.get("NodeRecovery") == "None":
            continue
        for group in cluster.groups.values():
            for node in [each for each in group.nodes if _works(each)]:
                health = marked.get(node_view(cluster, node).kubernetes_name)
                place = LocatedNode(cluster, group, node)
                repair = _REPAIRS.get(health or "")
                if repair is not None:
                    found_faulty(place, reason=f"The node is labelled {health}", repair=repair)
                if health == PENDING_REBOOT:
                    lifecycle.nodes.reboot(place, now)
                elif health == PENDING_REPLACEMENT:
                    reason = f"The node is labelled {health}"
                    lifecycle.nodes.replace(place, now, reason=reason)


def _works(node: Node) -> bool:
    return node.status == "Running" and node.joined and not node.rebooting

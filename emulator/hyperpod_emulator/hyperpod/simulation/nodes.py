"""How nodes come, fail, are retried and go, and what others see of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from hyperpod_emulator.hyperpod.simulation import faults, slurm_nodes
from hyperpod_emulator.hyperpod.simulation.event_log import record
from hyperpod_emulator.hyperpod.simulation.hooks import NodeNetwork, NodeView, Observer
from hyperpod_emulator.hyperpod.simulation.slurm_nodes import files_of_nodes
from hyperpod_emulator.hyperpod.simulation.state import (
    Cluster,
    InstanceGroup,
    Node,
    instance_id,
    security_groups_of,
    subnet_of,
    unique_id,
)
from hyperpod_emulator.hyperpod.simulation.surroundings import Surroundings
from hyperpod_emulator.hyperpod.simulation.training_plans import TrainingPlan

LABEL_PREFIX = "sagemaker.amazonaws.com"
# botocore has the first, sagemaker-hyperpod-ref in the developer guide the others.
_MOUNT_PATHS = {
    "EbsVolumeConfig": "/opt/sagemaker",
    "FsxLustreConfig": "/fsx",
    "FsxOpenZfsConfig": "/home",
}


def private_dns(*, private_ip: str, region: str) -> str:
    """Return the private DNS hostname of an address."""
    return f"ip-{private_ip.replace('.', '-')}.{region}.compute.internal"


def node_view(cluster: Cluster, node: Node) -> NodeView:
    """Return what observers see of a node, which has been launched."""
    if node.instance_id is None or node.private_ip is None:
        message = f"node {node.logical_id} has no instance yet"
        raise ValueError(message)
    spec = cluster.groups[node.group_name].spec
    kubernetes = spec.get("KubernetesConfig", {})
    return NodeView(
        instance_id=node.instance_id,
        instance_group=node.group_name,
        instance_type=node.instance_type,
        private_ip=node.private_ip,
        kubernetes_name=f"hyperpod-{node.instance_id}",
        log_group=cluster.log_group,
        labels={**kubernetes.get("Labels", {}), **_own_labels(cluster, node)},
        taints=tuple(kubernetes.get("Taints", ())),
        subnet=node.subnet,
        lifecycle=spec.get("LifeCycleConfig", {}),
        mounts=tuple(
            str(config.get("MountPath", _MOUNT_PATHS[kind]))
            for each in spec.get("InstanceStorageConfigs", ())
            for kind, config in each.items()
            if not config.get("RootVolume")
        ),
    )


def _own_labels(cluster: Cluster, node: Node) -> dict[str, str]:
    labels = {
        f"{LABEL_PREFIX}/cluster-name": cluster.name,
        f"{LABEL_PREFIX}/instance-group-name": node.group_name,
        f"{LABEL_PREFIX}/compute-type": "hyperpod",
        f"{LABEL_PREFIX}/node-health-status": "Schedulable",
        "node.kubernetes.io/instance-type": node.instance_type,
        "topology.kubernetes.io/region": cluster.caller.region,
    }
    if cluster.groups[node.group_name].spec.get("OnStartDeepHealthChecks"):
        labels[f"{LABEL_PREFIX}/deep-health-check-status"] = "Passed"
    if node.subnet.availability_zone:
        labels["topology.kubernetes.io/zone"] = node.subnet.availability_zone
    return labels


@dataclass(frozen=True, slots=True)
class LocatedNode:
    """A node with the group and the cluster it is in."""

    cluster: Cluster
    group: InstanceGroup
    node: Node

    def __str__(self) -> str:
        return f"Cluster {self.cluster.name} and InstanceGroup {self.group.name}"


class NodeListener(Protocol):
    """Decides what a node's change means for its cluster."""

    def node_settled(self, cluster: Cluster, now: float) -> None:
        """A node has begun to run or is gone."""

    def node_failed(self, cluster: Cluster, group: InstanceGroup, message: str, now: float) -> bool:
        """A node could not be provisioned; return whether to try again."""


class NodeProvisioner:
    """Moves nodes through Pending, DeepHealthCheckInProgress, Running and ShuttingDown."""

    def __init__(self, *, surroundings: Surroundings, listener: NodeListener) -> None:
        self._around = surroundings
        self._listener = listener

    def request(self, cluster: Cluster, group: InstanceGroup, now: float) -> Node:
        """Add a node to a group and begin to provision it."""
        cluster.nodes_requested += 1
        node = Node(
            logical_id=unique_id(cluster.arn, "node", cluster.nodes_requested),
            group_name=group.name,
            instance_type=group.instance_type,
            requested_at=now,
            subnet=subnet_of(cluster, group),
        )
        group.nodes.append(node)
        self._provision(LocatedNode(cluster, group, node), now)
        return node

    def stop(self, place: LocatedNode, now: float) -> None:
        """Take a node out of its group; one without an instance goes at once."""
        node = place.node
        if node.instance_id is None:
            self.remove(place)
            return
        node.epoch += 1
        node.status, node.message, node.leaving = "ShuttingDown", None, True
        record(place.cluster, node, time=now, description=f"Instance in {place} is stopping")
        self._later(place, now + self._around.timings.node_stop, self._stopped)

    def remove(self, place: LocatedNode) -> None:
        """Take a node out of its group at once."""
        place.node.epoch += 1
        self._release(place)
        place.group.nodes.remove(place.node)

    def replace(self, place: LocatedNode, now: float, *, reason: str) -> None:
        """Terminate a node's instance and provision another in its place."""
        node = place.node
        node.epoch += 1
        description = f"Instance in {place} is being replaced: {reason}"
        record(place.cluster, node, time=now, level="Warn", description=description)
        node.status, node.message = "ShuttingDown", reason
        self._later(place, now + self._around.timings.node_stop, self._restart)

    def reboot(self, place: LocatedNode, now: float) -> None:
        """Reboot a running node."""
        node = place.node
        node.epoch += 1
        # The API reference says that EC2 reboots it, and lists no status for that.
        node.status, node.rebooting = "Pending", True
        record(place.cluster, node, time=now, description=f"Instance in {place} is rebooting")
        self._observer(place.cluster).node_silent(node_view(place.cluster, node))
        self._later(place, now + self._around.timings.node_reboot, self._running)

    def show(self, place: LocatedNode) -> None:
        """Tell the observer of a node that has joined, or of its changed labels and taints."""
        cluster, node = place.cluster, place.node
        if node.joined:
            self._observer(cluster).node_running(node_view(cluster, node))

    def _provision(self, place: LocatedNode, now: float) -> None:
        place.node.attempts += 1
        place.node.status = "Pending"
        launch = self._around.timings.node_launch * self._slowness(place.group)
        self._later(place, now + launch, self._launch)

    def _launch(self, place: LocatedNode, now: float) -> None:
        cluster, group, node = place.cluster, place.group, place.node
        plan = self._around.plans.of_group(group.spec, cluster.caller)
        if plan is not None and plan.status_at(now) == "Scheduled":
            # "When the plan start date arrives [...] instance groups are provisioned":
            # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
            # An update may give the group another plan before.
            again = now + self._around.timings.node_retry_limit
            self._later(place, min(plan.offering.start, again), self._launch)
            return
        message = self._no_capacity(place, plan, now)
        if message is not None:
            self._fail(place, now, message=message)
            return
        address = self._around.addresses.take(region=cluster.caller.region, subnet=node.subnet)
        if address is None:
            message = faults.no_free_address(subnet_id=node.subnet.subnet_id)
            self._fail(place, now, message=message)
            return
        node.private_ip = address
        node.instance_id = instance_id(cluster.arn, node.logical_id, node.attempts)
        node.launch_time, node.message = now, None
        node.image_release_version = group.image_release_version
        self._record_start(place, now, description="was launched", script_state="InProgress")
        script = self._around.timings.lifecycle_script * self._slowness(group)
        self._later(place, now + script, self._script_ended)

    def _no_capacity(self, place: LocatedNode, plan: TrainingPlan | None, now: float) -> str | None:
        """Return why there is no instance for a node; None when there is one.

        A reservation that does not fit shows as a lack of capacity: awslabs/awsome-distributed-ai,
        hyperpod-mental-model.md.
        """
        group, node = place.group, place.node
        short = group.name in self._around.faults.current.capacity_shortage
        if plan is not None and not short:
            zones = {plan.offering.zone, node.subnet.availability_zone} - {None}
            if len(zones) > 1:
                return faults.no_capacity_in_zone(instance_type=node.instance_type)
            active = plan.status_at(now) == "Active"
            short = not (active and self._around.plans.take(plan, node.logical_id))
        return faults.capacity_shortage(instance_type=node.instance_type) if short else None

    def _script_ended(self, place: LocatedNode, now: float) -> None:
        group, node = place.group, place.node
        if not self._passes_efa(place):
            self._fail(place, now, message=faults.efa_health_check(node=node))
            return
        reaches_s3 = self._reaches_s3(place)
        # What is said of a file system that cannot be mounted is not published; it is believed to
        # be the same as of a script that fails.
        fails = group.name in self._around.faults.current.lifecycle_script_failure or not (
            self._mounts(place)
        )
        # Without a way to S3, there is no way for a log either.
        if reaches_s3:
            view = replace(node_view(place.cluster, node), files=files_of_nodes(place.cluster))
            self._around.scripts.script_runs(view, fails=fails)
        if fails or not reaches_s3:
            message = faults.lifecycle_script(cluster=place.cluster, node=node)
            self._fail(place, now, message=message, script_state="Failed")
            return
        # "Controller and login nodes are not subject to deep health checks":
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
        is_worker = slurm_nodes.node_type(group.spec) in {None, slurm_nodes.COMPUTE}
        if not (is_worker and group.spec.get("OnStartDeepHealthChecks")):
            self._running(place, now)
            return
        node.status = "DeepHealthCheckInProgress"
        self._record_start(place, now, description="has begun deep health checks")
        checks = self._around.timings.deep_health_check * self._slowness(group)
        self._later(place, now + checks, self._checked)

    def _passes_efa(self, place: LocatedNode) -> bool:
        hardware = self._around.hardware(place.node.instance_type)
        groups, network = self._network(place)
        has_efa = hardware is not None and hardware.efa_interfaces > 0
        return network is None or not has_efa or network.passes_efa(groups=groups)

    def _reaches_s3(self, place: LocatedNode) -> bool:
        """Say whether a node gets its script, if any."""
        groups, network = self._network(place)
        return (
            network is None
            or "LifeCycleConfig" not in place.group.spec
            or network.reaches_s3(subnet_id=place.node.subnet.subnet_id, groups=groups)
        )

    def _mounts(self, place: LocatedNode) -> bool:
        groups, network = self._network(place)
        return (
            network is None
            or slurm_nodes.node_type(place.group.spec) is None
            or network.mounts(
                storage=place.group.spec.get("InstanceStorageConfigs", ()),
                subnet_id=place.node.subnet.subnet_id,
                groups=groups,
            )
        )

    def _network(self, place: LocatedNode) -> tuple[tuple[str, ...], NodeNetwork | None]:
        """Return a node's groups, and what knows its network: without a VPC, nobody."""
        groups = security_groups_of(place.cluster, place.group)
        return groups, self._around.network if groups else None

    def _observer(self, cluster: Cluster) -> Observer:
        return self._around.observer if cluster.on_eks else Observer()

    def _checked(self, place: LocatedNode, now: float) -> None:
        if place.group.name in self._around.faults.current.deep_health_check_failure:
            message = faults.deep_health_check(node=place.node)
            self._fail(place, now, message=message)
            return
        self._running(place, now)

    def _running(self, place: LocatedNode, now: float) -> None:
        cluster, node = place.cluster, place.node
        node.status, node.message, node.failures = "Running", None, 0
        node.rebooting = False
        self._record_start(place, now, description="is running")
        node.joined = True
        # After a reboot too, which ends with the labels of a healthy node.
        self.show(place)
        self._listener.node_settled(cluster, now)

    def _record_start(
        self, place: LocatedNode, now: float, *, description: str, script_state: str = "Succeeded"
    ) -> None:
        has_script = "LifeCycleConfig" in place.group.spec
        record(
            place.cluster,
            place.node,
            time=now,
            description=f"Instance in {place} {description}",
            lifecycle_script_state=script_state if has_script else None,
        )

    def _fail(
        self, place: LocatedNode, now: float, *, message: str, script_state: str | None = None
    ) -> None:
        node = place.node
        node.failures += 1
        node.message = message
        if node.instance_id is not None:
            node.status = "Failure"
        # One fault is two events (awslabs/awsome-distributed-ai, hyperpod-mental-model.md).
        for description in (
            f"Failed to provision EC2 Instance in {place}",
            f"Instance creation in {place} failed",
        ):
            record(
                place.cluster,
                node,
                time=now,
                level="Error",
                description=description,
                failure_message=message,
                lifecycle_script_state=script_state,
            )
        if self._listener.node_failed(place.cluster, place.group, message, now):
            pause = self._around.timings.retry_after(failures=node.failures)
            self._later(place, now + pause, self._restart)

    def _restart(self, place: LocatedNode, now: float) -> None:
        self._release(place)
        self._provision(place, now)

    def _stopped(self, place: LocatedNode, now: float) -> None:
        self.remove(place)
        self._listener.node_settled(place.cluster, now)

    def _release(self, place: LocatedNode) -> None:
        cluster, node = place.cluster, place.node
        left = cluster.status == "Deleting" and self._around.faults.current.nodes_left_in_kubernetes
        if node.joined:
            observer = self._observer(cluster)
            gone = observer.node_silent if left else observer.node_removed
            gone(node_view(cluster, node))
        if node.private_ip is not None:
            self._around.addresses.give_back(
                region=cluster.caller.region, subnet=node.subnet, address=node.private_ip
            )
        self._around.plans.give_back(node.logical_id)
        node.joined = node.rebooting = False
        node.instance_id = node.private_ip = node.launch_time = None

    def _slowness(self, group: InstanceGroup) -> float:
        return self._around.faults.current.slow_nodes.get(group.name, 1.0)

    def _later(
        self, place: LocatedNode, time: float, step: Callable[[LocatedNode, float], None]
    ) -> None:
        epoch = place.node.epoch

        def act(now: float) -> None:
            # A stop, replacement or reboot in the meantime has made this step obsolete.
            if place.node.epoch == epoch:
                step(place, now)

        self._around.agenda.at(time, act)

"""Scenarios in which EC2 does not have the instances of an EKS node group, or takes one back."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.node_groups.section import ON_DEMAND, SPOT, ManagedNodeGroupConfig
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.aws.settings import Scarcity
from hyperpod_rehearsal.existing_resources.capacity import (
    CapacityReservation,
    capacity_reservations,
)
from hyperpod_rehearsal.messages import Listener
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import Scenario, has_status, is_refused, succeeds
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import comes_true
from hyperpod_stacks.table import StackKind

_NODE_GROUP = "eks.amazonaws.com/nodegroup"
_STACK: StackKind = "node-groups"
Wanted = Callable[[ManagedNodeGroupConfig], bool]


def _groups(config: Config, wanted: Wanted) -> list[ManagedNodeGroupConfig]:
    """Return the groups for a scenario, which lacks them if there are none."""
    return [group for group in config.node_groups if group.desired_size and wanted(group)]


def _lacks(wanted: Wanted, what: str) -> Callable[[Config], str | None]:
    return lambda config: None if _groups(config, wanted) else f"an EKS node group {what}"


def _is_on_demand(group: ManagedNodeGroupConfig) -> bool:
    return group.capacity == ON_DEMAND and group.reservation is None


def _is_reserved(group: ManagedNodeGroupConfig) -> bool:
    return group.capacity_reservation_id is not None


def _is_spot(group: ManagedNodeGroupConfig) -> bool:
    return group.capacity == SPOT


def _fails(stage: Stage, error: str | None, *, matching: str) -> Iterator[Fact]:
    yield is_refused(error, matching=matching)
    # Other stacks that wait for nodes may not have begun.
    yield has_status(stage, _STACK, "ROLLBACK_COMPLETE")
    yield has_status(stage, "platform", "CREATE_COMPLETE", "UPDATE_COMPLETE")


def _without_groups(stage: Stage) -> Iterator[Fact]:
    """End the groups of an earlier scenario, since each of these fails at their creation."""
    if stage.status(_STACK) is not None:
        yield succeeds("the node groups are destroyed", stage.destroy(_STACK))


@Scenario(
    of_cluster=False,
    also_lacking=_lacks(_is_on_demand, "of On-Demand capacity outside a reservation"),
)
def node_group_capacity_shortage(stage: Stage) -> Iterator[Fact]:
    """EC2 has no instance left for the first EKS node group outside a reservation."""
    yield from _without_groups(stage)
    group = _groups(stage.config, _is_on_demand)[0]
    stage.environment.aws.tell(Scarcity(instance_types=group.instance_types))
    matching = r"capacity: Could not launch On-Demand Instances\. InsufficientInstanceCapacity"
    step = r".*Wait and deploy again, set availability_zone_id"
    yield from _fails(stage, stage.deploy(), matching=matching + step)


@Scenario(of_cluster=False, also_lacking=_lacks(_is_reserved, "with capacity_reservation_id"))
def reservation_in_another_zone(stage: Stage) -> Iterator[Fact]:
    """The capacity reservation of an EKS node group is in another zone than its subnet."""
    yield from _without_groups(stage)
    group = _groups(stage.config, _is_reserved)[0]
    clients = stage.environment.clients
    [there] = [
        reservation
        for reservation in capacity_reservations(stage.config)
        if reservation.id == group.capacity_reservation_id
    ]
    ec2 = clients("ec2")
    described = ec2.describe_capacity_reservations(CapacityReservationIds=[there.id])
    zone = described["CapacityReservations"][0]["AvailabilityZone"]
    zones = ec2.describe_availability_zones()["AvailabilityZones"]
    other = next(place["ZoneName"] for place in zones if place["ZoneName"] != zone)
    _move(there, zone=other, clients=clients)
    target = Target(
        partition="aws",
        account=stage.environment.aws.account,
        region=stage.environment.region,
        client=clients,
    )
    errors = [
        str(finding) for finding, _ in VALIDATORS["capacity-reservations"](stage.config, target)
    ]
    yield Fact(title=f"preflight says: {'; '.join(errors)}", ok=any("is in " in e for e in errors))
    matching = r"reservation: .*ReservationCapacityExceeded.*Compare the capacity reservation"
    yield from _fails(stage, stage.deploy(), matching=matching)
    _move(there, zone=zone, clients=clients)


def _move(reservation: CapacityReservation, *, zone: str, clients: AwsClients) -> None:
    """Put a reservation of the same ID into another zone, which no one can in AWS."""
    replace(reservation, zone=zone).reserve(clients)


@Scenario(
    begins="deployed",
    messages=("node-group-degraded: Spot",),
    of_cluster=False,
    also_lacking=_lacks(_is_spot, "of Spot capacity"),
)
def spot_taken_away(stage: Stage) -> Iterator[Fact]:
    """EC2 takes a Spot Instance of an EKS node group back, twice."""
    group = _groups(stage.config, _is_spot)[0]
    before = _names(stage, group)
    stage.environment.node_groups.take_back(group.name)
    yield _comes(
        "another node joins where EC2 has one",
        lambda: (
            len(_names(stage, group) - before) == 1 and len(_names(stage, group)) == len(before)
        ),
    )
    stage.environment.aws.tell(Scarcity(instance_types=group.instance_types))
    stage.environment.node_groups.take_back(group.name)
    yield _comes(
        "the node group is DEGRADED", lambda: _described(stage, group)["status"] == _DEGRADED
    )
    [issue] = _described(stage, group)["health"]["issues"]
    problem = f"{issue['code']}: {issue['message']}"
    yield Fact(title=f"EKS says: {problem}", ok="UnfulfillableCapacity" in problem)
    Listener(stage).look()
    yield Fact(title="no node has joined", ok=len(_names(stage, group)) == len(before) - 1)
    stage.environment.aws.tell(Scarcity())
    yield _comes(
        "once EC2 has one again, it joins", lambda: len(_names(stage, group)) == len(before)
    )


_DEGRADED = "DEGRADED"


def _described(stage: Stage, group: ManagedNodeGroupConfig) -> dict[str, Any]:
    answer: dict[str, Any] = stage.environment.clients("eks").describe_nodegroup(
        clusterName=stage.config.eks_cluster_name, nodegroupName=group.name
    )["nodegroup"]
    return answer


def _names(stage: Stage, group: ManagedNodeGroupConfig) -> set[str]:
    nodes = stage.environment.kubernetes.objects("v1", "Node")
    return {
        node["metadata"]["name"]
        for node in nodes
        if node["metadata"].get("labels", {}).get(_NODE_GROUP) == group.name
    }


def _comes(what: str, is_so: Callable[[], bool]) -> Fact:
    return Fact(title=what, ok=comes_true(is_so))

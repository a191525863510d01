"""The state of clusters, instance groups and nodes, and their events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emulator.hyperpod.simulation.hooks import Caller, Subnet

CONTINUOUS = "Continuous"


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        event_id: UUID.
        time: Epoch seconds.
        level: Info, Warn or Error.
        resource_type: Cluster, InstanceGroup or Instance.
        description: What happened.
        group_name: Instance group concerned, if any.
        instance_id: Instance concerned, if any.
        metadata: EventMetadata union: one member named after the resource type.
    """

    event_id: str
    time: float
    level: str
    resource_type: str
    description: str
    group_name: str | None = None
    instance_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Node:
    """One node, from the request for it until it is gone. Times are epoch seconds.

    `joined` is true from the first Running of an instance until the instance is gone; `leaving`
    says that the node is being taken out for good; `rebooting`, that it will be back. The epoch
    tells obsolete steps from due ones.
    """

    logical_id: str
    group_name: str
    instance_type: str
    requested_at: float
    subnet: Subnet
    status: str = "Pending"
    message: str | None = None
    instance_id: str | None = None
    launch_time: float | None = None
    private_ip: str | None = None
    image_release_version: str | None = None
    software_updated_at: float | None = None
    attempts: int = 0
    failures: int = 0
    epoch: int = 0
    joined: bool = False
    leaving: bool = False
    rebooting: bool = False


@dataclass(slots=True, eq=False)
class InstanceGroup:
    """One instance group: what is wanted (spec) and the nodes there are."""

    spec: Mapping[str, Any]
    target_count: int
    image_id: str
    image_release_version: str
    restricted: bool = False
    status: str = "Creating"
    deleting: bool = False
    software_update_status: str | None = None
    epoch: int = 0
    nodes: list[Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The group's name."""
        return str(self.spec["InstanceGroupName"])

    @property
    def instance_type(self) -> str:
        """The group's type, or the preferred one of a flexible group."""
        if "InstanceType" in self.spec:
            return str(self.spec["InstanceType"])
        return str(self.spec["InstanceRequirements"]["InstanceTypes"][0])

    @property
    def current_count(self) -> int:
        """How many nodes have joined and are not being terminated."""
        return sum(node.joined and node.status != "ShuttingDown" for node in self.nodes)

    @property
    def launched_count(self) -> int:
        """How many nodes have an instance, in whatever state."""
        return sum(node.instance_id is not None for node in self.nodes)

    @property
    def minimum_count(self) -> int:
        """How many nodes make the group InService."""
        return int(self.spec.get("MinInstanceCount", self.target_count))

    @property
    def settled(self) -> bool:
        """Whether the group has exactly the nodes wanted, all of them running."""
        running = all(node.status == "Running" for node in self.nodes)
        return running and len(self.nodes) == self.target_count


@dataclass(frozen=True, slots=True)
class GovernanceObject:
    """A compute quota or a cluster policy of task governance; `kind` is its operations' noun.

    `target` is the team that a quota is for.
    """

    kind: str
    name: str
    arn: str
    created_at: float
    target: Mapping[str, Any] | None


@dataclass(slots=True, eq=False)
class Cluster:
    """One cluster. `settings` are the CreateCluster members that are not kept elsewhere.

    `former_tags` are the tags that there were, each with the time at which they changed.
    """

    name: str
    arn: str
    caller: Caller
    created_at: float
    settings: dict[str, Any]
    subnets: dict[str, Subnet]
    tags: dict[str, str]
    former_tags: list[tuple[float, dict[str, str]]] = field(default_factory=list)
    groups: dict[str, InstanceGroup] = field(default_factory=dict)
    status: str = "Creating"
    failure_message: str | None = None
    provisioning: bool = False
    nodes_requested: int = 0
    events: list[Event] = field(default_factory=list)
    client_tokens: dict[str, list[Node]] = field(default_factory=dict)
    governance: dict[str, GovernanceObject] = field(default_factory=dict)

    def tags_at(self, time: float) -> dict[str, str]:
        """Return the tags as they were at a time."""
        if time < self.created_at:
            return {}
        return next((tags for until, tags in self.former_tags if time < until), self.tags)

    @property
    def continuous(self) -> bool:
        """Whether nodes are provisioned continuously."""
        return self.settings.get("NodeProvisioningMode") == CONTINUOUS

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN."""
        return self.arn.rpartition("/")[2]

    @property
    def nodes(self) -> list[Node]:
        """The nodes of all groups."""
        return [node for group in self.groups.values() for node in group.nodes]

"""Clusters, instance groups and nodes, their ids and addresses, and where they are found.

The ids have AWS's forms and are derived from what they name: no randomness.
"""

from __future__ import annotations

import hashlib
import ipaddress
import string
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_emulator.hyperpod.simulation.errors import (
    resource_in_use,
    resource_not_found,
    validation_error,
)
from hyperpod_emulator.hyperpod.simulation.hooks import Caller, NodeNetwork, Subnet

CLUSTER_ID_LENGTH = 12
INSTANCE_ID_DIGITS = 17
IMAGE_ID_DIGITS = 17
_ALPHABET = string.ascii_lowercase + string.digits


def _digest(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(str(part) for part in parts).encode()).digest()


def cluster_id(*, account: str, region: str, name: str, ordinal: int) -> str:
    """Return the 12 characters that end a cluster's ARN."""
    digest = _digest("cluster", account, region, name, ordinal)
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:CLUSTER_ID_LENGTH])


def instance_id(*parts: object) -> str:
    """Return an EC2 instance id."""
    return "i-" + _digest("instance", *parts).hex()[:INSTANCE_ID_DIGITS]


def image_id(*, region: str, release_version: str) -> str:
    """Return the id of the HyperPod AMI of a release in a Region."""
    return "ami-" + _digest("image", region, release_version).hex()[:IMAGE_ID_DIGITS]


def unique_id(*parts: object) -> str:
    """Return a UUID."""
    return str(uuid.UUID(bytes=_digest("uuid", *parts)[:16], version=4))


CONTINUOUS = "Continuous"


@dataclass(frozen=True, slots=True)
class Event:
    """One event; time is in epoch seconds.

    Attributes:
        level: Info, Warn or Error.
        resource_type: Cluster, InstanceGroup or Instance.
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


@dataclass(slots=True, eq=False)
class GovernanceObject:
    """A compute quota or a cluster policy of task governance; `kind` is its operations' noun.

    `content` are the members that an update changes; `failure` says why it failed.
    """

    kind: str
    name: str
    arn: str
    created_at: float
    changed_at: float
    content: Mapping[str, Any]
    version: int = 1
    status: str = "Creating"
    failure: str = ""

    @property
    def team(self) -> str | None:
        """The team that a quota is for."""
        team: str | None = (self.content.get("ComputeQuotaTarget") or {}).get("TeamName")
        return team


@dataclass(slots=True, eq=False)
class Cluster:
    """One cluster. `settings` are the CreateCluster members that are not kept elsewhere.

    `former_tags` are the tags that there were, each with the time at which they changed.
    `waiting_groups` are those that wait for Slurm's controller.
    `slurm_conf_edited` says that someone has changed the partitions in slurm.conf by hand.
    `autoscaling` says that the managed Karpenter is in service.
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
    governance_made: int = 0
    waiting_groups: set[str] = field(default_factory=set)
    slurm_conf_edited: bool = False
    autoscaling: bool = False

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
    def on_eks(self) -> bool:
        """Whether EKS orchestrates it."""
        return "Eks" in self.settings.get("Orchestrator", {})

    @property
    def log_group(self) -> str:
        """Where CloudWatch has what its lifecycle scripts say; it ends as the ARN does."""
        return f"/aws/sagemaker/Clusters/{self.name}/{self.arn.rpartition('/')[2]}"

    @property
    def nodes(self) -> list[Node]:
        """The nodes of all groups."""
        return [node for group in self.groups.values() for node in group.nodes]


Key = tuple[str, str, str]


class ClusterRegistry:
    """Finds clusters; a caller sees only those of the same account and Region.

    `unknown_cluster` is the error with which a cluster is said not to exist.
    """

    def __init__(self, *, unknown_cluster: str = "ResourceNotFound") -> None:
        self._unknown_cluster = unknown_cluster
        self._clusters: dict[Key, Cluster] = {}
        self._names_used: Counter[Key] = Counter()

    def new_arn(self, *, name: str, caller: Caller) -> str:
        """Return the ARN for a new cluster; a name that is used again gets another ARN."""
        key = _key(name, caller)
        self._names_used[key] += 1
        identifier = cluster_id(
            account=caller.account,
            region=caller.region,
            name=name,
            ordinal=self._names_used[key],
        )
        return (
            f"arn:{caller.partition}:sagemaker:{caller.region}:{caller.account}"
            f":cluster/{identifier}"
        )

    def check_free(self, *, name: str, caller: Caller) -> None:
        """Raise ResourceInUse when the name is taken."""
        if _key(name, caller) in self._clusters:
            message = f"Cluster with name '{name}' already exists. Choose a different name."
            raise resource_in_use(message)

    def add(self, cluster: Cluster) -> None:
        """Add a cluster."""
        self._clusters[_key(cluster.name, cluster.caller)] = cluster

    def remove(self, cluster: Cluster) -> None:
        """Forget a cluster."""
        del self._clusters[_key(cluster.name, cluster.caller)]

    @property
    def all(self) -> list[Cluster]:
        """Every caller's clusters in the order of their creation."""
        return [*self._clusters.values()]

    def of(self, caller: Caller) -> list[Cluster]:
        """Return the caller's clusters in the order of their creation."""
        place = (caller.account, caller.region)
        return [cluster for key, cluster in self._clusters.items() if key[:2] == place]

    def find(self, name_or_arn: str, caller: Caller) -> Cluster:
        """Return a cluster by name or ARN, or raise the ApiError that there is none."""
        for cluster in self.of(caller):
            if name_or_arn in {cluster.name, cluster.arn}:
                return cluster
        if self._unknown_cluster == "ValidationException":
            raise validation_error(f"Could not find cluster '{name_or_arn}'.")
        kind = "ARN" if name_or_arn.startswith("arn:") else "name"
        raise resource_not_found(f"Cluster with {kind} '{name_or_arn}' not found.")


def _key(name: str, caller: Caller) -> Key:
    return (caller.account, caller.region, name)


# A VPC subnet keeps its first four addresses and its last one for itself (VPC user guide).
RESERVED_FIRST = 4
RESERVED_LAST = 1
# Stands in for a subnet that no one knows: shared address space (RFC 6598), so that an address
# in it cannot be taken for one of a real VPC.
UNKNOWN_CIDR = "100.64.0.0/16"
SERVICE_SUBNET = Subnet(subnet_id="service-managed", cidr=UNKNOWN_CIDR)


class AddressBook:
    """Hands out the lowest free address of a subnet."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str], set[int]] = {}

    def take(self, *, region: str, subnet: Subnet) -> str | None:
        """Return a free address of the subnet; None when there is none left."""
        network = ipaddress.ip_network(subnet.cidr)
        taken = self._taken.setdefault((region, subnet.cidr), set())
        usable = range(RESERVED_FIRST, network.num_addresses - RESERVED_LAST)
        offset = next((number for number in usable if number not in taken), None)
        if offset is None:
            return None
        taken.add(offset)
        return str(network[offset])

    def give_back(self, *, region: str, subnet: Subnet, address: str) -> None:
        """Make an address free again."""
        network = ipaddress.ip_network(subnet.cidr)
        offset = int(ipaddress.ip_address(address)) - int(network.network_address)
        self._taken[region, subnet.cidr].discard(offset)


def subnets_of(
    vpc_configs: Iterable[Mapping[str, Any]], *, network: NodeNetwork | None
) -> dict[str, Subnet]:
    """Return the subnets that VpcConfig structures name, by id."""
    names = [name for vpc in vpc_configs for name in vpc["Subnets"]]
    found = {name: network.find(name) if network else None for name in names}
    return {
        name: known or Subnet(subnet_id=name, cidr=UNKNOWN_CIDR) for name, known in found.items()
    }


def subnet_of(cluster: Cluster, group: InstanceGroup) -> Subnet:
    """Return the subnet of a group's nodes: the group's own first one, or the cluster's."""
    vpc = _vpc_config(cluster, group)
    return cluster.subnets[vpc["Subnets"][0]] if vpc else SERVICE_SUBNET


def security_groups_of(cluster: Cluster, group: InstanceGroup) -> tuple[str, ...]:
    """Return the ids of the security groups of a group's nodes: its own, or the cluster's."""
    vpc = _vpc_config(cluster, group)
    return tuple(vpc["SecurityGroupIds"]) if vpc else ()


def _vpc_config(cluster: Cluster, group: InstanceGroup) -> Mapping[str, Any] | None:
    return group.spec.get("OverrideVpcConfig") or cluster.settings.get("VpcConfig")

"""What the checks judge: a deployment, reduced to what rules need."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Literal

from hyperpod_cdk.checks.finding import Path
from hyperpod_cdk.hyperpod_components import HyperPodComponents
from hyperpod_cdk.instance_facts import InstanceFacts
from hyperpod_cdk.instance_types import instance_facts

# AWS keeps the first four addresses and the last one of every subnet.
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
_RESERVED_ADDRESSES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Taint:
    """A taint of a group's nodes; `effect` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    effect: str
    value: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """An EBS volume of each node: the root volume, or the second one."""

    kms_key_id: str | None = None
    root_volume: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """An instance group.

    Attributes:
        path: Where it stands.
        name: Its name.
        instance_type: Its type; None with `instance_types`.
        instance_types: Types of a flexible group (InstanceRequirements), the preferred one first.
        instance_count: Nodes wanted.
        own_subnets: How many subnets of its own it has, whose zones nobody knows here.
        restricted: Whether it is a restricted instance group, which only Nova jobs use.
        capacity: None is On-Demand too, or what a training plan reserves.

    The other attributes are the configuration's keys of the same names.
    """

    path: Path
    name: str
    instance_type: str | None = None
    instance_types: tuple[str, ...] = ()
    instance_count: int = 1
    min_instance_count: int | None = None
    threads_per_core: int | None = None
    deep_health_checks: tuple[str, ...] = ()
    availability_zone_id: str | None = None
    training_plan_arn: str | None = None
    capacity: Literal["OnDemand", "Spot"] | None = None
    ebs_volumes: tuple[Volume, ...] = ()
    image_id: str | None = None
    image_release_version: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    network_interface_type: Literal["efa", "efa-only"] | None = None
    own_subnets: int = 0
    restricted: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        """Every type a node of the group may have."""
        return self.instance_types if self.instance_type is None else (self.instance_type,)

    @property
    def facts(self) -> tuple[InstanceFacts, ...]:
        """What is known of these types; a type that nobody describes is left out."""
        known = (instance_facts(instance_type) for instance_type in self.types)
        return tuple(facts for facts in known if facts is not None)

    @property
    def spot(self) -> bool:
        """Whether its nodes are Spot Instances."""
        return self.capacity == "Spot"

    @property
    def has_efa_accelerators(self) -> bool:
        """Whether a node of it may have accelerators that talk over EFA."""
        return any(facts.accelerator and facts.efa_interfaces for facts in self.facts)

    def types_with_paths(self) -> Iterator[tuple[Path, str]]:
        """Yield every type with its path."""
        if self.instance_type is not None:
            yield self.at("instance_type"), self.instance_type
            return
        for index, instance_type in enumerate(self.instance_types):
            yield self.at("instance_types", index), instance_type

    def at(self, *steps: str | int) -> Path:
        """Return the path of a key of the group."""
        return (*self.path, *steps)


@dataclass(frozen=True, kw_only=True, slots=True)
class Subnet:
    """A subnet.

    Attributes:
        path: Where its CIDR block stands.
        cidr: The block.
        zone: Its zone: an ID, or words for one that is found by name.
        availability_zone_id: The ID; None for a zone that is found by name.
    """

    path: Path
    cidr: str
    zone: str
    availability_zone_id: str | None = None

    @property
    def free_addresses(self) -> int:
        """Addresses that network interfaces can have while the subnet is empty."""
        return IPv4Network(self.cidr).num_addresses - _RESERVED_ADDRESSES


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """A deployment.

    Attributes:
        groups: Instance groups, restricted ones last.
        hyperpod_subnets: Subnets of the nodes.
        eks_subnets: Subnets of the control plane's network interfaces.
        kubernetes_version: `<major>.<minor>`.
        region: AWS region; None when the CDK environment decides.
        continuous: Whether nodes are provisioned continuously.
        node_recovery: `Automatic` or `None`.
        auto_scaling: `Karpenter`, or None for none.
        storage: Whether there is an FSx for Lustre file system, and so its CSI driver.
        components: What of HyperPod's dependencies is installed.
    """

    groups: tuple[Group, ...]
    hyperpod_subnets: tuple[Subnet, ...]
    eks_subnets: tuple[Subnet, ...] = ()
    kubernetes_version: str = "1.34"
    region: str | None = None
    continuous: bool = True
    node_recovery: str = "Automatic"
    auto_scaling: str | None = None
    storage: bool = True
    components: HyperPodComponents = field(default_factory=HyperPodComponents)

    def subnets_for(self, group: Group) -> tuple[Subnet, ...]:
        """Return the known subnets that the group's nodes may be in.

        With a zone it is the first subnet there, which the group's OverrideVpcConfig then names;
        otherwise HyperPod picks one of all.
        """
        if group.own_subnets:
            return ()
        if group.availability_zone_id is None:
            return self.hyperpod_subnets
        zone = group.availability_zone_id
        return tuple(s for s in self.hyperpod_subnets if s.availability_zone_id == zone)[:1]

    def zones_for(self, group: Group) -> tuple[str, ...]:
        """Return the zones that the group's nodes may be in, each once."""
        return tuple(dict.fromkeys(subnet.zone for subnet in self.subnets_for(group)))

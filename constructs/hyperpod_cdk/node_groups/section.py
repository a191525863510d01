"""The `node_groups` section: EKS managed node groups, whose nodes are instances of EC2."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hyperpod_cdk.facts.instance_types import InstanceFacts, ec2_name, ec2_types, instance_facts
from hyperpod_cdk.hyperpod.node_settings import Labels, TaintConfig
from hyperpod_cdk.hyperpod.placement import HyperPodSubnet, subnets_of
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.arns import (
    CapacityReservationGroupArn,
    CapacityReservationId,
    PlacementGroupName,
)
from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import Limits, Message, allowed, listed_twice, nearest
from hyperpod_cdk.schema.section import Listed, Section, judged

ON_DEMAND: Final = "OnDemand"
SPOT: Final = "Spot"
CAPACITY_BLOCK: Final = "CapacityBlock"
_ID, _GROUP = "capacity_reservation_id", "capacity_reservation_resource_group_arn"
EFA_LABEL = "vpc.amazonaws.com/efa.present"
"""Of nodes that have interfaces of EFA."""
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
_MOST_TYPES = 20
# https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
_MOST_NODES = 450
# Of gp3: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
_MOST_GIB = 65_536
# https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
_MOST_UNAVAILABLE = 100
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceMetadataOptionsRequest.html
_MOST_HOPS = 64

# EKS refuses labels of these: https://github.com/eksctl-io/eksctl/issues/4007
_RESERVED = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html#API_CreateNodegroup_RequestSyntax
_MOST_TAINTS = 50


@dataclass(frozen=True, slots=True)
class _Ec2Type(Limits):
    """Limits a text to the instance types of EC2 whose hardware is known."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The types."""
        return ec2_types()

    def _json_schema(self, _kind: str) -> dict[str, Any]:
        return {"enum": list(self.choices)}

    def findings(self, value: str) -> Iterator[Finding]:
        """Find a type that is not EC2's, or that has HyperPod's name."""
        known = self.choices
        if value in known:
            return
        plain = ec2_name(value)
        hint = (
            "; write it without ml., as EC2 does"
            if plain != value and plain in known
            else nearest(value, known=known)
        )
        message = f"is not an EC2 instance type known here{hint}{allowed(known)}"
        yield Finding(value=value, message=message)


def _type_findings(types: Sequence[str]) -> Iterator[Finding]:
    if not 1 <= len(types) <= _MOST_TYPES:
        yield Finding(
            value=list(types), message=f"must list 1 to {_MOST_TYPES} types, EKS's limits"
        )
    yield from listed_twice(types)


def _label_findings(labels: Mapping[str, str]) -> Iterator[Finding]:
    for key in labels:
        domain = key.rpartition("/")[0]
        if any(f".{domain}".endswith(f".{each}") for each in _RESERVED):
            listed = ", ".join(_RESERVED)
            message = f"has a domain that EKS keeps for itself ({listed}); take your own"
            yield Finding(path=(key,), value=key, message=message)


def _taint_findings(taints: Sequence[TaintConfig]) -> Iterator[Finding]:
    if len(taints) > _MOST_TAINTS:
        yield Finding(value=len(taints), message=f"must be at most {_MOST_TAINTS} taints")
    # https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
    pairs = [(each.key, each.effect) for each in taints]
    for index, pair in enumerate(pairs):
        if pair in pairs[:index]:
            message = "is a taint of this key and effect again; Kubernetes takes one of them"
            yield Finding(path=(index, "key"), value=pair[0], message=message)


class ManagedNodeGroupConfig(Section):
    """A group of identical EC2 instances that EKS adds to the cluster, replaces and updates."""

    name: Annotated[
        str,
        # https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html
        Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z_-]*$", max_length=63),
        Message(
            "must be 1 to 63 letters, digits, hyphens and underscores, the first one no "
            "hyphen or underscore"
        ),
    ]
    """Name of the node group, unique in the EKS cluster."""

    instance_types: Annotated[
        Listed[Annotated[str, _Ec2Type()]],
        judged(_type_findings),
        Field(examples=[["c5.2xlarge"], ["p4d.24xlarge"]]),
    ]
    """Instance types of EC2, without ml., in the order of preference: one, or for Spot up to 20
    with similar hardware. They cannot be changed later."""

    desired_size: Annotated[int, Field(ge=0, le=_MOST_NODES)]
    """Number of nodes after the deployment, min_size to max_size. If you change it, the next
    deployment adds or removes nodes."""

    min_size: Annotated[int, Field(ge=0, le=_MOST_NODES)] = 0
    """Minimum number of nodes for an autoscaler, 0 to 450. Default: 0."""

    max_size: Annotated[int | None, Field(ge=1, le=_MOST_NODES), Field(examples=[4])] = None
    """Maximum number of nodes for an autoscaler, 1 to 450. Default: desired_size, and 1 at
    least."""

    capacity: Literal["OnDemand", "Spot", "CapacityBlock"] = ON_DEMAND
    """OnDemand; Spot, which is cheaper and interrupted with two minutes' notice; or CapacityBlock,
    with its ID in capacity_reservation_id. It cannot be changed later. Default: OnDemand."""

    capacity_reservation_id: CapacityReservationId | None = None
    """On-Demand Capacity Reservation (ODCR), or Capacity Block, that the nodes run in; its zone and
    type must be those of the group. Without it, nodes run in matching open reservations, or outside
    any. Default: none."""

    capacity_reservation_resource_group_arn: CapacityReservationGroupArn | None = None
    """Resource group of several On-Demand Capacity Reservations that the nodes run in, in place of
    capacity_reservation_id. Default: none."""

    availability_zone_id: Annotated[AvailabilityZone | None, Field(examples=["usw2-az2"])] = None
    """Zone of the group, by ID; one of the HyperPod subnets' zones. Default: the first HyperPod
    subnet's with EFA or a placement group, else all of them. The subnets of the group cannot be
    changed later, also not through hyperpod_subnets."""

    volume_size_gib: Annotated[int, Field(ge=20, le=_MOST_GIB)] = 100
    """Size of the root volume, of type gp3 and encrypted, with the images and logs of pods, unless
    raid0 puts them on local disks: 20 to 65536. Default: 100."""

    efa: bool | None = None
    """Whether each network card that supports it has an EFA interface, which uses no IP address.
    Default: true for types with accelerators and EFA."""

    placement_group: bool | PlacementGroupName | None = None
    """Whether a new cluster placement group keeps the instances close to each other, or the name of
    an existing one, such as a reservation's; only capacity that is reserved in that one is then
    used. Default: as efa, but false with CapacityBlock, whose instances are already close."""

    raid0: bool | None = None
    """Whether the local NVMe disks of an instance are combined (RAID 0) for the images, logs and
    scratch space of pods. Default: true for types that have any."""

    node_repair: bool = True
    """Whether EKS replaces or reboots unhealthy nodes, after at most half an hour; to detect faulty
    hardware, set operators.node_monitoring_agent. Default: true."""

    release_version: Annotated[
        str | None,
        Field(pattern=r"^1\.[0-9]{2}\.[0-9]+-[0-9]{8}$"),
        Message(
            "must be a release of EKS's AMIs such as 1.33.5-20251112, from "
            "https://github.com/awslabs/amazon-eks-ami/releases"
        ),
        Field(examples=["1.33.5-20251112"]),
    ] = None
    """Release of the AMI (Amazon Linux 2023), such as 1.33.5-20251112, for the Kubernetes version
    of the cluster; for a Capacity Block, whose nodes keep their version, for that version. Default:
    the latest when the group is made, or updated."""

    labels: Annotated[
        Labels, judged(_label_findings), Field(examples=[{"example.com/team": "other"}])
    ] = Field(default_factory=dict)
    """Kubernetes labels of the nodes, at most 50. Default: none but EKS's, and
    vpc.amazonaws.com/efa.present with EFA, nvidia.com/gpu.present with GPUs."""

    taints: Annotated[
        Listed[TaintConfig],
        judged(_taint_findings),
        Field(examples=[[{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]]),
    ] = ()
    """Kubernetes taints of the nodes, at most 50; pods then need tolerations, which those of this
    project have for nvidia.com/gpu and aws.amazon.com/neuron. Default: none."""

    detailed_monitoring: bool = False
    """Whether CloudWatch gets metrics of each instance every minute, which are billed. Default:
    false, every five minutes."""

    http_put_response_hop_limit: Annotated[int, Field(ge=1, le=_MOST_HOPS)] = 1
    """How many network hops an answer of the instance metadata service may take, 1 to 64. With 1,
    pods that are not on the host's network get none; from 2 on, every pod can act as the role of
    the nodes. Default: 1."""

    max_unavailable: Annotated[int, Field(ge=1, le=_MOST_UNAVAILABLE)] = 1
    """Nodes that an update of the AMI or the launch template replaces at a time, 1 to 100.
    Default: 1."""

    update_strategy: Annotated[
        Literal["DEFAULT", "MINIMAL"] | None,
        Field(examples=["MINIMAL"]),
    ] = None
    """DEFAULT: an update adds nodes before it ends others, so it needs capacity for them. MINIMAL:
    it ends them first, which a reservation without free instances needs. Default: MINIMAL for types
    with accelerators, else DEFAULT."""

    @cached_property
    def facts(self) -> tuple[InstanceFacts, ...]:
        """What is known of each instance type, in their order."""
        return tuple(facts for name in self.instance_types if (facts := instance_facts(name)))

    @property
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""
        return self.instance_types

    @property
    def accelerator_kind(self) -> str | None:
        """GPU, Neuron, or None."""
        return next((each.accelerator.kind for each in self.facts if each.accelerator), None)

    @property
    def most_nodes(self) -> int:
        """The size to which the group may grow."""
        return max(self.desired_size, self.min_size, 1) if self.max_size is None else self.max_size

    @property
    def reservation(self) -> tuple[str, str] | None:
        """The key of the reservation that the nodes run in, and what it names."""
        named = ((key, getattr(self, key)) for key in (_ID, _GROUP))
        return next(((key, value) for key, value in named if value is not None), None)

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        types, sizes = " or ".join(self.instance_types), f"{self.min_size} to {self.most_nodes}"
        reserved = (
            "" if self.reservation is None else f" of {self.reservation[1].rpartition('/')[2]}"
        )
        return f"{self.name}: {self.desired_size} x {types} ({sizes}), {self.capacity}{reserved}"

    @property
    def has_efa(self) -> bool:
        """Whether the nodes have interfaces of EFA."""
        if self.efa is None:
            return all(each.efa_interfaces and each.accelerator for each in self.facts)
        return self.efa

    @property
    def shows_metadata_to_pods(self) -> bool:
        """Whether pods of a network of their own, a hop away, get the instance's metadata."""
        return self.http_put_response_hop_limit > 1

    @property
    def placement_group_name(self) -> str | None:
        """The existing placement group that the nodes are in."""
        return self.placement_group if isinstance(self.placement_group, str) else None

    @property
    def is_clustered(self) -> bool:
        """Whether the nodes are in a placement group."""
        if self.placement_group is None:
            return self.has_efa and self.capacity != CAPACITY_BLOCK
        return bool(self.placement_group)

    @property
    def is_in_one_zone(self) -> bool:
        """Whether all nodes must be in one zone."""
        return self.has_efa or self.is_clustered or self.availability_zone_id is not None

    @property
    def joins_local_disks(self) -> bool:
        """Whether an instance's local disks become one."""
        return all(each.local_nvme_gb for each in self.facts) if self.raid0 is None else self.raid0

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels of the nodes but those that EKS writes.

        https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia.html

        Without the label of its own, the Cluster Autoscaler takes a node whose GPUs are not offered
        yet for one without, and starts another.
        https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
        """
        own = {EFA_LABEL: "true"} if self.has_efa else {}
        gpus = (
            {"nvidia.com/gpu.present": "true", "k8s.amazonaws.com/accelerator": "nvidia"}
            if self.accelerator_kind == "GPU"
            else {}
        )
        return {**own, **gpus, **self.labels}

    @property
    def stated_update_strategy(self) -> str:
        """The strategy of an update; its default stays as long as the group.

        https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
        """
        return self.update_strategy or ("MINIMAL" if self.accelerator_kind else "DEFAULT")

    def _findings(self) -> Iterator[Finding]:
        if self.min_size > self.desired_size:
            message = f"must be at most desired_size ({self.desired_size})"
            yield error(("min_size",), self.min_size, message)
        if self.max_size is not None and self.max_size < self.desired_size:
            message = f"must be at least desired_size ({self.desired_size})"
            yield error(("max_size",), self.max_size, message)
        yield from self._capacity_findings()
        yield from self._hardware_findings()

    def _capacity_findings(self) -> Iterator[Finding]:
        group_arn = self.capacity_reservation_resource_group_arn
        key, reservation = self.reservation or (_ID, None)
        if group_arn is not None and self.capacity_reservation_id is not None:
            message = f"must be left out with {_ID}: nodes run in one or the other"
            yield error((_GROUP,), group_arn, message)
        if self.capacity == SPOT and reservation is not None:
            message = "must be left out with capacity: Spot, which no reservation holds"
            yield error((key,), reservation, message)
        if self.capacity == CAPACITY_BLOCK and self.capacity_reservation_id is None:
            message = (
                "is missing: a Capacity Block is named by its ID, such as cr-0123456789abcdef0"
            )
            yield error((_ID,), None, message)
        if reservation is not None and len(self.instance_types) > 1:
            message = f"must be one type with {key}, which is of one"
            yield error(("instance_types",), list(self.instance_types), message)

    def _hardware_findings(self) -> Iterator[Finding]:
        for noun, values in (
            ("architecture", {each.architecture for each in self.facts}),
            (
                "kind of accelerator",
                {each.accelerator and each.accelerator.kind for each in self.facts},
            ),
        ):
            if len(values) > 1:
                message = f"must be of one {noun}, for all nodes of a group have one AMI"
                yield error(("instance_types",), list(self.instance_types), message)
                return
        if self.has_efa and len({(e.efa_interfaces, e.network_cards) for e in self.facts}) > 1:
            message = "must have as many interfaces of EFA as each other, or set efa: false"
            yield error(("instance_types",), list(self.instance_types), message)
        without = next((each for each in self.facts if not each.efa_interfaces), None)
        if self.efa and without:
            yield error(("efa",), True, f"must be left out: {without.instance_type} has no EFA")
        diskless = next((each for each in self.facts if not each.local_nvme_gb), None)
        if self.raid0 and diskless:
            message = f"must be left out: {diskless.instance_type} has no local disks"
            yield error(("raid0",), True, message)


def node_group_subnets(
    group: ManagedNodeGroupConfig, network: NetworkConfig
) -> Iterator[HyperPodSubnet]:
    """Yield the subnets that a group's nodes are in: with EFA or a placement group, one."""
    zone = group.availability_zone_id
    fitting = (
        each for each in subnets_of(network) if zone is None or each.availability_zone_id == zone
    )
    if not group.is_in_one_zone:
        yield from fitting
    elif (first := next(fitting, None)) is not None:
        yield first

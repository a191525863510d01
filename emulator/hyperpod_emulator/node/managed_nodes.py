"""The EC2 instances of EKS node groups, as nodes of the Kubernetes cluster.

Their labels: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html and
https://kubernetes.io/docs/reference/labels-annotations-taints/.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Any, Self

from botocore.exceptions import ClientError

from hyperpod_emulator.aws.eks.addon_manager import NODE_GROUP
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.hardware import (
    EFA,
    HardwareOf,
    node_architecture,
    node_capacity,
    unknown_hardware,
)
from hyperpod_emulator.kubernetes.controllers.workloads import PullError
from hyperpod_emulator.kubernetes.in_process import KubernetesApi
from hyperpod_emulator.node.registries import RegistriesOfSubnets

_PAUSE_SECONDS = 0.5
# AWS keeps the first four addresses and the last one of a subnet.
_FIRST, _KEPT = 4, 5
_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
_Node = dict[str, Any]


@dataclass(slots=True)
class ManagedNodes:
    """Lets nodes join and leave as the node groups of one EKS cluster say.

    Hardware is known by EC2's names of instance types.
    """

    clients: AwsClients
    kubernetes: KubernetesApi
    cluster_name: str
    hardware: HardwareOf = unknown_hardware
    registries: RegistriesOfSubnets | None = None
    _there: dict[str, _Node] = field(default_factory=dict)
    _taken: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="managed-nodes", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def reconcile(self) -> None:
        """Let the nodes be there that the groups want and EC2 has, and no others."""
        with self._lock:
            wanted = dict(self._wanted())
            for name in self._there.keys() - wanted.keys():
                self.kubernetes.remove_node(name)
            for name, node in wanted.items():
                if self._there.get(name) != node:
                    self.kubernetes.put_node(name, **node)
            self._there = wanted

    def take_back(self, group: str) -> None:
        """Let EC2 take a Spot Instance back; another is launched if EC2 has one."""
        with self._lock:
            # They are in the order of their numbers.
            name = next(
                name for name, node in self._there.items() if node["labels"][NODE_GROUP] == group
            )
            del self._there[name]
            self.kubernetes.remove_node(name)
            self._taken[group] += 1

    def _run(self) -> None:
        while not self._ended.wait(_PAUSE_SECONDS):
            self.reconcile()

    def _wanted(self) -> Iterator[tuple[str, _Node]]:
        eks = self.clients("eks")
        try:
            groups = eks.list_nodegroups(clusterName=self.cluster_name)["nodegroups"]
            for each in groups:
                found = eks.describe_nodegroup(clusterName=self.cluster_name, nodegroupName=each)
                group = found["nodegroup"]
                for name, node in self._nodes_of(group):
                    if name in self._there or not group["health"]["issues"]:
                        yield name, node
        except ClientError as error:
            # No cluster yet, or no more; or a group that has just gone.
            if error.response["Error"]["Code"] != "ResourceNotFoundException":
                raise

    def _nodes_of(self, group: Mapping[str, Any]) -> Iterator[tuple[str, _Node]]:
        subnets = self.clients("ec2").describe_subnets(SubnetIds=group["subnets"])["Subnets"]
        instance_type = group["instanceTypes"][0]
        hardware = self.hardware(instance_type)
        capacity = {**node_capacity(hardware), EFA: str(self._efa_interfaces(group))}
        # An update of any of these, which EKS makes node by node, leaves none of them.
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html
        template = (group.get("launchTemplate") or {}).get("version")
        versions = f"{template}/{group.get('releaseVersion')}/{group.get('version')}"
        taken = self._taken[group["nodegroupName"]]
        for index in range(taken, taken + group["scalingConfig"]["desiredSize"]):
            subnet = subnets[index % len(subnets)]
            zone = subnet["AvailabilityZone"]
            labels = {
                **group["labels"],
                NODE_GROUP: group["nodegroupName"],
                "eks.amazonaws.com/capacityType": group["capacityType"],
                "kubernetes.io/arch": node_architecture(hardware),
                "topology.kubernetes.io/region": zone[:-1],
                "topology.kubernetes.io/zone": zone,
                "topology.k8s.aws/zone-id": subnet["AvailabilityZoneId"],
            }
            name = _name(f"{group['nodegroupArn']}/{versions}/{index}", subnet)
            yield (
                name,
                {
                    "instance_type": instance_type,
                    "labels": labels,
                    "capacity": {name: n for name, n in capacity.items() if n != "0"},
                    "taints": [
                        {**taint, "effect": _EFFECTS[taint["effect"]]} for taint in group["taints"]
                    ],
                    "pull_error": self._pull_error(name, subnet_id=subnet["SubnetId"]),
                },
            )

    def _pull_error(self, name: str, *, subnet_id: str) -> PullError | None:
        """Return what a node reaches since it joined."""
        if name in self._there or self.registries is None:
            return self._there.get(name, {}).get("pull_error")
        return self.registries.pull_error(subnet_id)

    def _efa_interfaces(self, group: Mapping[str, Any]) -> int:
        """Return how many the launch template gives an instance."""
        template = group.get("launchTemplate")
        if template is None:
            return 0
        found = self.clients("ec2").describe_launch_template_versions(
            LaunchTemplateId=template["id"], Versions=[str(template["version"])]
        )
        data = found["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        kinds = [each.get("InterfaceType") for each in data.get("NetworkInterfaces", ())]
        return sum(kind in ("efa", "efa-only") for kind in kinds)


def _name(identity: str, subnet: Mapping[str, Any]) -> str:
    """Return the private DNS name of an instance, which is the name of its node."""
    network = IPv4Network(subnet["CidrBlock"])
    number = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:4])
    address = network[_FIRST + number % (network.num_addresses - _KEPT)]
    region = subnet["AvailabilityZone"][:-1]
    return f"ip-{str(address).replace('.', '-')}.{region}.compute.internal"

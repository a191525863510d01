"""Which subnet a node is launched in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rehearsal.hyperpod.caller import Caller
from rehearsal.hyperpod.hooks import Subnet, Subnets
from rehearsal.hyperpod.state import Cluster, InstanceGroup

# Stands in for a subnet that nobody knows: shared address space (RFC 6598), so that an address
# in it cannot be taken for one of a real VPC.
UNKNOWN_CIDR = "100.64.0.0/16"
SERVICE_SUBNET = Subnet(subnet_id="service-managed", cidr=UNKNOWN_CIDR)


def subnets_of(
    vpc_configs: Iterable[Mapping[str, Any]], *, caller: Caller, directory: Subnets | None
) -> dict[str, Subnet]:
    """Return the subnets that VpcConfig structures name, by id."""
    names = [name for vpc in vpc_configs for name in vpc["Subnets"]]
    found = {}
    for name in names:
        known = directory.find(subnet_id=name, caller=caller) if directory else None
        found[name] = known or Subnet(subnet_id=name, cidr=UNKNOWN_CIDR)
    return found


def subnet_of(cluster: Cluster, group: InstanceGroup) -> Subnet:
    """Return the subnet of a group's nodes: the group's own first one, or the cluster's."""
    vpc = group.spec.get("OverrideVpcConfig") or cluster.settings.get("VpcConfig")
    return cluster.subnets[vpc["Subnets"][0]] if vpc else SERVICE_SUBNET

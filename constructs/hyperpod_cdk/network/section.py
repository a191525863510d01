"""The `network` section: VPC, subnets and availability zones."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ValidationInfo, field_validator, model_validator

from hyperpod_cdk.network import closed_rules, subnet_rules
from hyperpod_cdk.schema.availability_zones import AvailabilityZoneId
from hyperpod_cdk.schema.cidrs import AllocatableCidr
from hyperpod_cdk.schema.errors import refuse
from hyperpod_cdk.schema.section import Listed, Section


class HyperPodSubnetConfig(Section):
    """A private subnet for HyperPod nodes and their pods."""

    cidr: AllocatableCidr
    """IPv4 CIDR block, /16 to /28. Nodes and pods take their addresses here (a p5.48xlarge up to
    81) and the block cannot be resized. Outside vpc_cidr, it is added to the VPC as a secondary
    block."""

    availability_zone_id: AvailabilityZoneId | None = None
    """Zone of the nodes, by ID; one of network.availability_zone_ids, whose NAT gateway it uses.
    Default: the zone at this subnet's position among the availability zones."""


Cidrs = tuple[str, ...]
Subnets = tuple[HyperPodSubnetConfig, ...]


class NetworkConfig(Section):
    """VPC, subnets and availability zones."""

    absent: ClassVar[Mapping[str, str]] = {
        "vpc_id": "the deployment makes a VPC of its own, of vpc_cidr, and takes no existing one"
    }

    vpc_cidr: AllocatableCidr = "10.192.0.0/16"
    """Primary IPv4 CIDR block of the VPC, /16 to /28; cannot be changed later."""

    closed: bool = False
    """Whether nothing in the VPC reaches the internet or is reached from it: no internet gateway,
    NAT gateway or public subnet, but VPC endpoints of the AWS services. It needs
    eks.endpoint_access: private, and a registry that the VPC reaches (helm.image_registry).
    Default: false."""

    public_subnet_cidrs: Listed[AllocatableCidr] = ("10.192.10.0/24", "10.192.11.0/24")
    """One public subnet for each availability zone, each with a NAT gateway; inside vpc_cidr. A
    closed network has none."""

    eks_subnet_cidrs: Listed[AllocatableCidr] = ("10.192.7.0/28", "10.192.8.0/28")
    """Private subnets for the network interfaces of the EKS control plane, one in each of the first
    availability zones, at least two; inside vpc_cidr. EKS takes no further zone later, so zones
    that are added for nodes need none."""

    availability_zone_ids: Listed[AvailabilityZoneId] | None = None
    """Zones of the public and EKS subnets, in order, by ID (usw2-az1), which means the same place
    in every account. Default: the region's first two zones, by name."""

    hyperpod_subnets: Listed[HyperPodSubnetConfig] = (HyperPodSubnetConfig(cidr="10.1.0.0/16"),)
    """Private subnets for the nodes. EFA traffic does not leave a zone. Once deployed, they cannot
    be changed, only added to; the last one can be removed in a deployment after its groups."""

    @property
    def zone_count(self) -> int:
        """How many availability zones the network has."""
        return len(self.availability_zone_ids or self.public_subnet_cidrs or self.eks_subnet_cidrs)

    @property
    def node_zone_count(self) -> int:
        """In how many availability zones the HyperPod subnets are."""
        zones = enumerate(self.hyperpod_zone_ids)
        return len({index % self.zone_count if zone is None else zone for index, zone in zones})

    @property
    def hyperpod_zone_ids(self) -> tuple[str | None, ...]:
        """The zone of each HyperPod subnet; None where zones are found by name."""
        zones = self.availability_zone_ids or (None,)
        return tuple(
            subnet.availability_zone_id or zones[index % len(zones)]
            for index, subnet in enumerate(self.hyperpod_subnets)
        )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_public_subnets(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic's own
        if isinstance(data, Mapping) and data.get("closed") is True:
            return {"public_subnet_cidrs": [], **data}
        return data

    @field_validator("public_subnet_cidrs", "eks_subnet_cidrs")
    @classmethod
    def _check_zonal_subnets(cls, value: Cidrs, info: ValidationInfo) -> Cidrs:
        if info.field_name == "public_subnet_cidrs" and info.data.get("closed"):
            refuse(closed_rules.public_subnet_findings(value))
            return value
        refuse(subnet_rules.zonal_subnet_findings(value, earlier=info.data))
        return value

    @field_validator("availability_zone_ids")
    @classmethod
    def _check_zones(cls, value: Cidrs | None, info: ValidationInfo) -> Cidrs | None:
        refuse(subnet_rules.zone_findings(value, earlier=info.data))
        return value

    @field_validator("hyperpod_subnets")
    @classmethod
    def _check_hyperpod_subnets(cls, value: Subnets, info: ValidationInfo) -> Subnets:
        subnets = [(subnet.cidr, subnet.availability_zone_id) for subnet in value]
        refuse(subnet_rules.hyperpod_subnet_findings(subnets, earlier=info.data))
        return value

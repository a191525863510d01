"""Subnets for HyperPod nodes, with the zones that they are in."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSubnets:
    """Private subnets for HyperPod nodes.

    Attributes:
        subnets: The subnets, one at least.
        zone_ids: The Availability Zone ID of each, such as `usw2-az2`; None where it is not known.
            Default: none is known.
    """

    subnets: Sequence[ec2.ISubnet]
    zone_ids: Sequence[str | None] = ()

    @property
    def ids(self) -> list[str]:
        """The ID of each subnet."""
        return [subnet.subnet_id for subnet in self.subnets]

    @property
    def first_zone_id(self) -> str | None:
        """The Availability Zone ID of the first subnet; None where it is not known."""
        return self.zone_ids[0] if self.zone_ids else None

    def in_zone(self, availability_zone_id: str | None) -> ec2.ISubnet:
        """Return the first subnet of an Availability Zone.

        Args:
            availability_zone_id: The zone's ID; None for the first subnet of all.

        Raises:
            ValueError: No subnet is known to be in that zone.
        """
        if availability_zone_id is None:
            return self.subnets[0]
        if availability_zone_id not in self.zone_ids:
            raise ValueError(
                f"no subnet for nodes is in {availability_zone_id!r}; they are in "
                f"{list(self.zone_ids)}"
            )
        return self.subnets[self.zone_ids.index(availability_zone_id)]

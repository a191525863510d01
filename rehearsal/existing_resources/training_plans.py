"""Training plans that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from emulator.aws.local_aws import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.placement import subnet_for

_PLAN_HOURS = 7 * 24
_GROWTH = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingPlan:
    """A training plan for a HyperPod cluster that is active at once.

    Attributes:
        arn: Its ARN.
        instance_type: Type of its instances.
        count: How many it has.
        zone_id: Id of their zone; None for the one of that number.
        zone_number: Place of their zone among the region's by name, from 0.
    """

    arn: str
    instance_type: str
    count: int
    zone_id: str | None = None
    zone_number: int = 0

    def __str__(self) -> str:
        where = self.zone_id or f"the region's zone {self.zone_number + 1} by name"
        return f"Training plan {self.arn}, {self.count} {self.instance_type} in {where}"

    def make(self, clients: AwsClients) -> None:
        """Buy it unless it is there."""
        sagemaker = clients("sagemaker")
        name = self.arn.rpartition("/")[2]
        with suppress(sagemaker.exceptions.ResourceInUse):
            sagemaker.create_training_plan(
                TrainingPlanName=name, TrainingPlanOfferingId=self._offering(clients)
            )

    def _offering(self, clients: AwsClients) -> str:
        found = clients("ec2").describe_availability_zones()["AvailabilityZones"]
        zones = sorted(found, key=lambda zone: str(zone["ZoneName"]))
        names = [zone["ZoneName"] for zone in zones if zone["ZoneId"] == self.zone_id]
        zone = names[0] if names else zones[self.zone_number]["ZoneName"]
        offerings = clients("sagemaker").search_training_plan_offerings(
            InstanceType=self.instance_type,
            InstanceCount=self.count,
            DurationHours=_PLAN_HOURS,
            TargetResources=["hyperpod-cluster"],
        )["TrainingPlanOfferings"]
        return next(
            str(offering["TrainingPlanOfferingId"])
            for offering in offerings
            if offering["ReservedCapacityOfferings"][0]["AvailabilityZone"] == zone
        )


def training_plans(config: Config) -> Iterator[TrainingPlan]:
    """Yield each plan where its first group is, with room for that group to grow."""
    network = config.network
    for arn in config.cluster.training_plan_arns:
        groups = [group for group in config.cluster.all_groups if group.training_plan_arn == arn]
        subnet = subnet_for(groups[0], network)
        place = 0 if subnet is None else subnet.index
        yield TrainingPlan(
            arn=arn,
            instance_type=groups[0].possible_instance_types[0],
            count=_GROWTH * max(1, sum(group.instance_count for group in groups)),
            zone_id=network.hyperpod_zone_ids[place],
            zone_number=place % len(network.zones),
        )

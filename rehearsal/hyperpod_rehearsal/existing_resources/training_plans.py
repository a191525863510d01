"""Training plans that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.existing_resources.resource import ExistingResource

NEXT_WEEK = "next-week"
"""What the name of a plan ends with that begins in a week."""
_WEEK = timedelta(days=7)
_PLAN_HOURS = 7 * 24
_GROWTH = 2


def training_plan(
    arn: str,
    *,
    instance_type: str,
    count: int,
    zone_id: str | None = None,
    zone_number: int = 0,
) -> ExistingResource:
    """Return a training plan for a HyperPod cluster, active at once unless its name says when.

    Without the id of their zone, its instances are in that of the number, from 0, among the
    region's by name.
    """

    def make(clients: AwsClients) -> None:
        sagemaker = clients("sagemaker")
        places = clients("ec2").describe_availability_zones()["AvailabilityZones"]
        zones = sorted(places, key=lambda zone: str(zone["ZoneName"]))
        names = [zone["ZoneName"] for zone in zones if zone["ZoneId"] == zone_id]
        zone = names[0] if names else zones[zone_number]["ZoneName"]
        begins = datetime.now(UTC) + (_WEEK if arn.endswith(NEXT_WEEK) else timedelta())
        offerings = sagemaker.search_training_plan_offerings(
            InstanceType=instance_type,
            InstanceCount=count,
            DurationHours=_PLAN_HOURS,
            StartTimeAfter=begins,
            TargetResources=["hyperpod-cluster"],
        )["TrainingPlanOfferings"]
        offering = next(
            offering["TrainingPlanOfferingId"]
            for offering in offerings
            if offering["ReservedCapacityOfferings"][0]["AvailabilityZone"] == zone
        )
        with suppress(sagemaker.exceptions.ResourceInUse):
            sagemaker.create_training_plan(
                TrainingPlanName=arn.rpartition("/")[2], TrainingPlanOfferingId=offering
            )

    where = zone_id or f"the region's zone {zone_number + 1} by name"
    return ExistingResource(f"Training plan {arn}, {count} {instance_type} in {where}", make)


def training_plans(config: Config) -> Iterator[ExistingResource]:
    """Yield each plan where its first group is, with room for that group to grow."""
    network = config.network
    for arn in config.cluster.training_plan_arns:
        groups = [group for group in config.cluster.all_groups if group.training_plan_arn == arn]
        subnet = subnet_for(groups[0], network)
        place = 0 if subnet is None else subnet.index
        yield training_plan(
            arn,
            instance_type=groups[0].possible_instance_types[0],
            count=_GROWTH * max(1, sum(group.instance_count for group in groups)),
            zone_id=network.hyperpod_zone_ids[place],
            zone_number=place % len(network.zones),
        )

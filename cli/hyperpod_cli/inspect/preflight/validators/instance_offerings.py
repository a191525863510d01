"""EC2 offers each instance type in the zone of its nodes."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.errors import warning
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, validator

_PREFIX = "ml."


@validator(
    phase=Phase.CAPACITY,
    row="EC2 does not offer the type in the zone (w)",
    source="[EC2](https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html)",
    reads=["ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings"],
)
def instance_offerings(config: Config, target: Target) -> Iterator[Problem]:
    """Find groups whose types EC2 does not offer in their zone: the hardware is probably not there.

    A warning, because nodes are not of EC2's offer to the account: HyperPod launches them from
    SageMaker's capacity, which may have a type earlier or elsewhere.
    """
    ec2 = target.client("ec2")
    found = ec2.describe_availability_zones()["AvailabilityZones"]
    ids = {each["ZoneName"]: each["ZoneId"] for each in found}
    offered = _offered(config, target)
    for where, group in config.cluster.groups_with_paths():
        subnet = subnet_for(group, config.network)
        zone = None if subnet is None else subnet.availability_zone_id
        zone_id = None if zone is None else ids.get(zone, zone)
        for path, instance_type in group.types_with_paths():
            zones = offered.get(instance_type, set())
            if zone_id in zones or (zone_id is None and zones):
                continue
            others = ", ".join(sorted(zones)) or "no zone of this region"
            message = (
                f"is not offered by EC2 in {zone_id or target.region}, so HyperPod has hardly any "
                f"there; EC2 offers it in {others}: place the group there, or be sure of the "
                "capacity by a training plan"
            )
            name = instance_type.removeprefix(_PREFIX)
            command = (
                "aws ec2 describe-instance-type-offerings --location-type availability-zone-id "
                f"--filters Name=instance-type,Values={name}"
            )
            yield Problem(finding=warning((*where, *path), instance_type, message), command=command)


def _offered(config: Config, target: Target) -> dict[str, set[str]]:
    """Return the ids of the zones in which EC2 offers each type."""
    types = [each.removeprefix(_PREFIX) for each in config.cluster.instance_types]
    offered: dict[str, set[str]] = {}
    pages = target.client("ec2").get_paginator("describe_instance_type_offerings")
    for page in pages.paginate(
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": types}],
    ):
        for each in page["InstanceTypeOfferings"]:
            offered.setdefault(_PREFIX + each["InstanceType"], set()).add(each["Location"])
    return offered

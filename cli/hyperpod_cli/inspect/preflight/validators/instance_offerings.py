"""EC2 offers each instance type in the zones of its nodes."""

from collections.abc import Iterable, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.facts.instance_types import ec2_name
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.node_groups import groups_with_paths, zone_ids, zones_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(
    phase=Phase.CAPACITY, iam=["ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings"]
)
def instance_offerings(config: Config, target: Target) -> Problems:
    """EC2 does not offer the type in a zone of an EKS node group, or of an instance group (w).

    A warning for HyperPod's, because such nodes are not of EC2's offer to the account: HyperPod
    launches them from SageMaker's capacity, which may have a type earlier or elsewhere.

    Keys: cluster.instance_groups[].instance_type, node_groups[].instance_types

    [EC2](https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html)
    """
    ids = zones_of(target)
    offered = _offered(config, target)
    for where, group in config.cluster.groups_with_paths():
        subnet = subnet_for(group, config.network)
        zone = None if subnet is None else subnet.availability_zone_id
        for path, instance_type in group.types_with_paths():
            zones = offered.get(ec2_name(instance_type), set())
            zone_id = None if zone is None else ids.get(zone, zone)
            if zone_id in zones or (zone_id is None and zones):
                continue
            message = (
                f"is not offered by EC2 in {zone_id or target.region}, so HyperPod has hardly any "
                f"there; EC2 offers it in {_listed(zones)}: place the group there, or be sure of "
                "the capacity by a training plan"
            )
            finding = warning((*where, *path), instance_type, message)
            yield finding, _command(instance_type)
    yield from _of_node_groups(config, target, offered)


def _of_node_groups(config: Config, target: Target, offered: Mapping[str, set[str]]) -> Problems:
    """Find types that EC2 offers in none of a node group's zones, or not in all of them."""
    for where, group in groups_with_paths(config):
        wanted = zone_ids(group, config, target)
        for index, instance_type in enumerate(group.instance_types):
            zones = offered.get(instance_type, set())
            lacking = wanted - zones
            if zones and not lacking:
                continue
            message = (
                f"is not offered by EC2 in {_listed(lacking) if zones else target.region}; it is "
                f"in {_listed(zones)}: set availability_zone_id, and a HyperPod subnet there"
            )
            path = (*where, "instance_types", index)
            yield error(path, instance_type, message), _command(instance_type)


def _listed(zones: Iterable[str]) -> str:
    return ", ".join(sorted(zones)) or "no zone of this region"


def _command(instance_type: str) -> str:
    return (
        "aws ec2 describe-instance-type-offerings --location-type availability-zone-id "
        f"--filters Name=instance-type,Values={ec2_name(instance_type)}"
    )


def _offered(config: Config, target: Target) -> dict[str, set[str]]:
    """Return the ids of the zones in which EC2 offers each type, by EC2's names."""
    types = {ec2_name(name) for name in config.cluster.instance_types}
    types |= {name for group in config.node_groups for name in group.instance_types}
    asked = {
        "LocationType": "availability-zone-id",
        "Filters": [{"Name": "instance-type", "Values": sorted(types)}],
    }
    offered: dict[str, set[str]] = {}
    operation = "describe_instance_type_offerings"
    for offering in listed(target.client("ec2"), operation, "InstanceTypeOfferings", **asked):
        offered.setdefault(offering["InstanceType"], set()).add(offering["Location"])
    return offered

"""Each service that a closed network reaches has endpoints in the zones of its nodes."""

from collections.abc import Mapping, Sequence

from hyperpod_cdk import Config
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.node_groups import zones_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_CLOSED = ("network", "closed")
# In China, the names of some services begin with the second:
# https://docs.amazonaws.cn/en_us/vpc/latest/privatelink/aws-services-privatelink-support.html
_PREFIXES = ("com.amazonaws", "cn.com.amazonaws")
_DESCRIBE = "aws ec2 describe-vpc-endpoint-services"
_LIST = f"{_DESCRIBE} --query ServiceNames"


@validator(
    phase=Phase.NETWORK, iam=["ec2:DescribeAvailabilityZones", "ec2:DescribeVpcEndpointServices"]
)
def endpoint_services(config: Config, target: Target) -> Problems:
    """`network.closed`, and a service has no VPC endpoints in the region, or in a zone of nodes.

    Keys: network.availability_zone_ids, network.closed,
    network.hyperpod_subnets[].availability_zone_id

    [PrivateLink](https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html)
    """
    if not config.network.closed:
        return
    needed = [each.name for each in config.endpoint_services if not each.is_gateway]
    offered = _offered(needed, target)
    there = {name.partition(f".{target.region}.")[2] for name in offered}
    for service in needed:
        if service not in there:
            message = (
                f"needs endpoints of {service}, which {target.region} does not have; deploy to a "
                "region that has them, or leave the key out"
            )
            yield error(_CLOSED, True, message), _LIST
    zones = zones_of(target)
    complete = [
        f"{zones[name]} ({name})"
        for name in sorted(zones)
        if all(name in zones_there for zones_there in offered.values())
    ]
    for zone, (path, value) in _places(config.network, zones=zones).items():
        lacking = [name for name, zones_there in offered.items() if zone not in zones_there]
        if lacking:
            message = (
                f"is {zones[zone]} ({zone}) in this account, where there is no endpoint of "
                f"{', '.join(lacking)}: a closed network needs each in every zone of its "
                f"HyperPod subnets; take a zone with all of them: {', '.join(complete) or 'none'}"
            )
            look = f"{_DESCRIBE} --service-names {' '.join(lacking)}"
            yield error(path, value, message), look


def _offered(services: Sequence[str], target: Target) -> dict[str, set[str]]:
    """Return the names of the zones of each endpoint service, by the endpoint service's name."""
    names = [f"{prefix}.{target.region}.{name}" for name in services for prefix in _PREFIXES]
    offered: dict[str, set[str]] = {}
    # A filter finds nothing where a name would be an error.
    filters = [{"Name": "service-name", "Values": names}]
    for service in listed(
        target.client("ec2"), "describe_vpc_endpoint_services", "ServiceDetails", Filters=filters
    ):
        offered.setdefault(service["ServiceName"], set()).update(service["AvailabilityZones"])
    return offered


def _places(
    network: NetworkConfig, *, zones: Mapping[str, str]
) -> Mapping[str, tuple[KeyPath, object]]:
    """Return the key and value that put endpoints into a zone, by the zone's name.

    Zones that the account does not have are passed over: another validator tells them.
    """
    names = {**{id_: name for name, id_ in zones.items()}, **{name: name for name in zones}}
    places: dict[str, tuple[KeyPath, object]] = {}
    for index, subnet in enumerate(network.hyperpod_subnets):
        zone, number = network.hyperpod_zone_ids[index], index % len(network.zones)
        path: KeyPath = ("network", "hyperpod_subnets", index)
        value: object = subnet.cidr
        if subnet.availability_zone_id is not None:
            path, value = (*path, "availability_zone_id"), zone
        elif zone is not None:
            path, value = ("network", "availability_zone_ids", number), zone
        name = sorted(zones)[number] if zone is None else names.get(zone)
        if name is not None:
            places.setdefault(name, (path, value))
    return places

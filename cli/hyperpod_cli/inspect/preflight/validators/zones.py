"""The availability zones that a configuration names are the account's, and EKS takes them."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, validator

_COMMAND = "aws ec2 describe-availability-zones"


@validator(
    phase=Phase.PLACES,
    row="the account does not have the zone, or EKS does not take it",
    source="[EC2](https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html)",
    reads=["ec2:DescribeAvailabilityZones"],
)
def zones(config: Config, target: Target) -> Iterator[Problem]:
    """Find zones that the account does not have, and names of zones that EKS refuses.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    """
    network = config.network
    named: dict[KeyPath, str] = {
        **{
            ("network", "availability_zone_ids", index): zone
            for index, zone in enumerate(network.availability_zone_ids or ())
        },
        **{
            ("network", "hyperpod_subnets", index, "availability_zone_id"): zone
            for index, subnet in enumerate(network.hyperpod_subnets)
            if (zone := subnet.availability_zone_id) is not None
        },
    }
    if not named:
        return
    found = target.client("ec2").describe_availability_zones()["AvailabilityZones"]
    ids = {each["ZoneName"]: each["ZoneId"] for each in found}
    for path, zone in named.items():
        id_ = ids.get(zone, zone)
        if id_ not in ids.values():
            known = ", ".join(f"{name} ({id_})" for name, id_ in sorted(ids.items()))
            message = (
                f"is not a zone of account {target.account} in {target.region}, which has {known}"
            )
            yield Problem(finding=error(path, zone, message), command=_COMMAND)
        elif id_ in ZONES_WITHOUT_EKS and _has_control_plane(config, path):
            message = f"is {id_} in this account, where EKS takes no subnet; name another zone"
            yield Problem(finding=error(path, zone, message), command=_COMMAND)


def _has_control_plane(config: Config, path: tuple[str | int, ...]) -> bool:
    is_zonal, index = path[1] == "availability_zone_ids", path[2]
    return is_zonal and isinstance(index, int) and index < len(config.network.eks_subnet_cidrs)

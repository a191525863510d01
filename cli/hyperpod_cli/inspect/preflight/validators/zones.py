"""The availability zones that a configuration names are the account's, and EKS takes them."""

from hyperpod_cdk import Config
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.existing_network import of_lists, of_subnets
from hyperpod_cli.inspect.preflight.node_groups import zones_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_COMMAND = "aws ec2 describe-availability-zones"


@validator(phase=Phase.PLACES, iam=["ec2:DescribeAvailabilityZones"])
def zones(config: Config, target: Target) -> Problems:
    """The account does not have the zone, or EKS does not support it.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html

    Keys: network.availability_zone_ids

    [EC2](https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html)
    """
    zonal = of_lists(config, "availability_zone_ids")
    named = {**zonal, **of_subnets(config, "availability_zone_id")}
    if not named:
        return
    ids = zones_of(target)
    for path, zone in named.items():
        id_ = ids.get(zone, zone)
        if id_ not in ids.values():
            known = ", ".join(f"{name} ({id_})" for name, id_ in sorted(ids.items()))
            message = (
                f"is not a zone of account {target.account} in {target.region}, which has {known}"
            )
            yield error(path, zone, message), _COMMAND
        elif id_ in ZONES_WITHOUT_EKS and path in [*zonal][: len(config.network.eks_subnet_cidrs)]:
            message = f"is {id_} in this account, where EKS takes no subnet; name another zone"
            yield error(path, zone, message), _COMMAND

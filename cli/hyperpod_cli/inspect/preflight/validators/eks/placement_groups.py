"""The placement groups that are named are there, and keep instances close to each other."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_AVAILABLE, _CLUSTER = "available", "cluster"


@validator(phase=Phase.CAPACITY, names=("placement group",), iam=["ec2:DescribePlacementGroups"])
def placement_groups(config: Config, target: Target) -> Problems:
    """A placement group is not there, not usable, or spreads its instances (w).

    [EC2](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html)
    """
    for named in named_resources(config, "placement group"):
        answer = answer_of(
            target.client("ec2").describe_placement_groups,
            "InvalidPlacementGroup.Unknown",
            GroupNames=[named.value],
        )
        command = f"aws ec2 describe-placement-groups --group-names '{named.value}'"
        groups = (answer or {}).get("PlacementGroups", ())
        if not any(group["State"] == _AVAILABLE for group in groups):
            message = f"is no placement group of this account in {target.region} that can be used"
            yield error(named.path, named.value, message), command
        for strategy in {group["Strategy"] for group in groups} - {_CLUSTER}:
            message = f"is of strategy {strategy}, which keeps no instances close; name one of "
            yield warning(named.path, named.value, message + _CLUSTER), command

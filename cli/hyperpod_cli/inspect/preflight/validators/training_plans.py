"""The training plans that groups name have what the groups need."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, warning
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import is_deployed
from hyperpod_cli.inspect.preflight.node_groups import zones_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.terminal.errors import OpsError

_HYPERPOD = "hyperpod-cluster"
# https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
_USABLE = {"Active", "Scheduled"}
Groups = list[tuple[KeyPath, NodeGroupConfig]]
Plan = Mapping[str, Any]


@validator(
    phase=Phase.CAPACITY,
    names=("training plan",),
    iam=[
        "cloudformation:ListStackResources",
        "ec2:DescribeAvailabilityZones",
        "sagemaker:DescribeTrainingPlan",
    ],
)
def training_plans(config: Config, target: Target) -> Problems:
    """The plan does not exist, is unusable, elsewhere or too small; it starts later (w).

    [SageMaker](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingPlan.html)
    """
    groups: dict[str, Groups] = {}
    for where, group in config.cluster.groups_with_paths():
        if group.training_plan_arn is not None:
            name = group.training_plan_arn.rpartition("/")[2]
            groups.setdefault(name, []).append((where, group))
    for name, members in groups.items():
        command = f"aws sagemaker describe-training-plan --training-plan-name {name}"
        plan = _plan(name, target)
        if plan is None:
            for where, group in members:
                message = f"does not exist in {target.region}; `aws sagemaker list-training-plans`"
                path = (*where, "training_plan_arn")
                finding = error(path, group.training_plan_arn, message)
                yield finding, command
            continue
        for finding in _findings(plan, members, config=config, target=target):
            yield finding, command


def with_plan(config: Config, plan: str, *, target: Target) -> Config:
    """Return the configuration as if the groups of a plan's instance type named the plan."""
    described = _plan(plan.rpartition("/")[2], target)
    if described is None:
        raise OpsError(
            f"--training-plan: {plan!r} is not in {target.region}; `aws sagemaker "
            f"list-training-plans --region {target.region}` lists those that are"
        )
    types = {item["InstanceType"] for item in described.get("ReservedCapacitySummaries", [])}
    arn = {"training_plan_arn": described["TrainingPlanArn"]}
    groups = config.cluster.all_groups
    fitting = [group for group in groups if types & {*group.possible_instance_types}]
    if not fitting:
        raise OpsError(
            f"--training-plan: {plan!r} has {', '.join(sorted(types))}, and no group of the "
            "configuration does; set the instance_type of one"
        )
    lists = {
        key: tuple(
            group.model_copy(update=arn) if group in fitting else group
            for group in getattr(config.cluster, key)
        )
        for key in ("instance_groups", "restricted_instance_groups")
    }
    return config.model_copy(update={"cluster": config.cluster.model_copy(update=lists)})


def _plan(name: str, target: Target) -> Plan | None:
    return answer_of(target.client("sagemaker").describe_training_plan, TrainingPlanName=name)


def _findings(plan: Plan, groups: Groups, *, config: Config, target: Target) -> Iterator[Finding]:
    capacities = plan.get("ReservedCapacitySummaries", [])
    types = {capacity["InstanceType"] for capacity in capacities}
    zones = {item["AvailabilityZone"] for item in capacities if item.get("AvailabilityZone")}
    for where, group in groups:
        path, arn = (*where, "training_plan_arn"), group.training_plan_arn
        if plan["Status"] not in _USABLE:
            message = f"is {plan['Status']}: a group takes one that is Active or Scheduled"
            yield error(path, arn, message)
        elif plan["Status"] == "Scheduled":
            start = plan.get("StartTime", "later")
            yield warning(path, arn, f"is Scheduled: there are no nodes before {start}")
        if _HYPERPOD not in plan.get("TargetResources", [_HYPERPOD]):
            targets = ", ".join(plan["TargetResources"])
            yield error(path, arn, f"is for {targets}; name one for {_HYPERPOD}")
        if types and not types & {*group.possible_instance_types}:
            yield error(path, arn, f"has {', '.join(sorted(types))}; set that instance type")
        zone = _zone_name(group, config, target)
        if zones and zone is not None and zone not in zones:
            message = f"is in {', '.join(sorted(zones))}, and the group's subnet in {zone}"
            yield error(path, arn, f"{message}; place the group in a subnet of the plan's zone")
    path, arn = groups[0][0], groups[0][1].training_plan_arn
    wanted = sum(group.instance_count for _, group in groups)
    # Of a cluster that is there, its own nodes are among those in use.
    is_new = not is_deployed(config, "hyperpod", target)
    left = plan.get("AvailableInstanceCount" if is_new else "TotalInstanceCount")
    if plan["Status"] == "Active" and left is not None and wanted > left:
        names = ", ".join(group.name for _, group in groups)
        message = f"has {left} instances left, and {names} need {wanted}; lower instance_count"
        yield error((*path, "training_plan_arn"), arn, f"{message}, or extend the plan")


def _zone_name(group: NodeGroupConfig, config: Config, target: Target) -> str | None:
    """Return the zone of a group's subnet as the account names it; None if it is left out."""
    subnet = subnet_for(group, config.network)
    zone = None if subnet is None else subnet.availability_zone_id
    names = {id_: name for name, id_ in zones_of(target).items()}
    return None if zone is None else names.get(zone, zone)

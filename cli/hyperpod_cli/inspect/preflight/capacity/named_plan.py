"""A training plan that the configuration does not name yet."""

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.validator import Place
from hyperpod_cli.terminal.errors import OpsError


def with_plan(config: Config, plan: str, *, place: Place) -> Config:
    """Return the configuration as if the groups of a plan's instance type named the plan.

    Args:
        config: What is to be deployed.
        plan: Name or ARN of the plan.
        place: Where.

    Raises:
        OpsError: There is no such plan, or no group of its type.
    """
    name = plan.rpartition("/")[2]
    try:
        found = place.client("sagemaker").describe_training_plan(TrainingPlanName=name)
    except ClientError as refused:
        if refused.response["Error"]["Code"] != "ResourceNotFound":
            raise
        raise OpsError(
            f"--training-plan: {plan!r} is not in {place.region}; `aws sagemaker "
            f"list-training-plans --region {place.region}` lists those that are"
        ) from None
    types = {each["InstanceType"] for each in found.get("ReservedCapacitySummaries", [])}
    arn = {"training_plan_arn": found["TrainingPlanArn"]}
    cluster = config.cluster
    fitting = [each for each in cluster.all_groups if types & {*each.possible_instance_types}]
    if not fitting:
        raise OpsError(
            f"--training-plan: {plan!r} has {', '.join(sorted(types))}, and no group of the "
            "configuration does; set the instance_type of one"
        )
    changed = {
        kind: tuple(group.model_copy(update=arn) if group in fitting else group for group in groups)
        for kind, groups in (
            ("instance_groups", cluster.instance_groups),
            ("restricted_instance_groups", cluster.restricted_instance_groups),
        )
    }
    return config.model_copy(update={"cluster": cluster.model_copy(update=changed)})

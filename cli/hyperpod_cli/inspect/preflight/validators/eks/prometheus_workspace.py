"""Whether the workspace of Prometheus that a configuration names can get metrics."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_PATH: KeyPath = ("observability", "prometheus", "workspace_arn")


@validator(phase=Phase.EXISTING_RESOURCES, iam=["aps:DescribeWorkspace"])
def prometheus_workspace(config: Config, target: Target) -> Problems:
    """Your Prometheus workspace does not exist, or is in another account.

    Keys: observability.prometheus.workspace_arn

    [Prometheus](https://docs.aws.amazon.com/prometheus/latest/APIReference/API_DescribeWorkspace.html)
    """
    prometheus = config.observability.prometheus
    if prometheus is None or prometheus.workspace_arn is None:
        return
    arn = prometheus.workspace_arn
    account, identifier = arn.split(":")[4], arn.rpartition("/")[2]
    command = f"aws amp describe-workspace --workspace-id {identifier}"
    if account != target.account:
        message = f"must be of account {target.account}, where the deployment is"
        yield error(_PATH, arn, message), command
    elif answer_of(target.client("amp").describe_workspace, workspaceId=identifier) is None:
        message = "does not exist; correct it, or leave it out and a workspace is made"
        yield error(_PATH, arn, message), command

"""Whether the workspace of Prometheus that a configuration names can get metrics."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(
    phase=Phase.EXISTING_RESOURCES, names=("Prometheus workspace",), iam=["aps:DescribeWorkspace"]
)
def prometheus_workspace(config: Config, target: Target) -> Problems:
    """Your Prometheus workspace does not exist, or is in another account.

    [Prometheus](https://docs.aws.amazon.com/prometheus/latest/APIReference/API_DescribeWorkspace.html)
    """
    for named in named_resources(config, "Prometheus workspace"):
        account, identifier = named.value.split(":")[4], named.value.rpartition("/")[2]
        command = f"aws amp describe-workspace --workspace-id {identifier}"
        if account != target.account:
            message = f"must be of account {target.account}, where the deployment is"
            yield error(named.path, named.value, message), command
        elif answer_of(target.client("amp").describe_workspace, workspaceId=identifier) is None:
            message = "does not exist; correct it, or leave it out and a workspace is made"
            yield error(named.path, named.value, message), command

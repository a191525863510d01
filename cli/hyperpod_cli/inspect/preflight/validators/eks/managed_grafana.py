"""Amazon Managed Grafana finds an Identity Center, or is there already."""

import boto3
from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.observability.section import IN_CLUSTER, MANAGED, GrafanaConfig
from hyperpod_cdk.schema.errors import KeyPath, error, warning
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_shared.aws_errors import code

_PATH: KeyPath = ("observability", "grafana")
# What AWS answers in a region that the account has not enabled.
# https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-regions.html
_NOT_ENABLED = ("InvalidClientTokenId", "OptInRequired", "UnrecognizedClientException")


@validator(phase=Phase.EXISTING_RESOURCES, iam=["grafana:DescribeWorkspace", "sso:ListInstances"])
def managed_grafana(config: Config, target: Target) -> Problems:
    """There is no IAM Identity Center; your workspace does not exist, or has another name (w).

    One of the organization is seen from each of its accounts:
    https://docs.aws.amazon.com/singlesignon/latest/APIReference/API_ListInstances.html

    Keys: observability.grafana.kind, observability.grafana.workspace_arn,
    observability.grafana.workspace_name

    [Grafana](https://docs.aws.amazon.com/grafana/latest/userguide/authentication-in-AMG-SSO.html)
    """
    grafana = config.observability.grafana_of(MANAGED)
    if grafana is None:
        return
    if grafana.workspace_arn is not None:
        yield from _of_yours(grafana, target)
    elif not _has_identity_center(target):
        message = (
            "needs IAM Identity Center, which neither the account nor its organization has in any "
            "region; enable it in its console, or set this to "
            f"{IN_CLUSTER}"
        )
        command = "aws sso-admin list-instances"
        yield error((*_PATH, "kind"), grafana.kind, message), command


def _of_yours(grafana: GrafanaConfig, target: Target) -> Problems:
    arn, name = str(grafana.workspace_arn), grafana.workspace_name
    account, identifier = arn.split(":")[4], arn.rpartition("/")[2]
    answer = None
    if account == target.account:
        answer = answer_of(target.client("grafana").describe_workspace, workspaceId=identifier)
    there = None if answer is None else answer["workspace"].get("name")
    if there == name:
        return
    path, value = (*_PATH, "workspace_arn"), arn
    if account != target.account:
        message = f"must be of account {target.account}, where the deployment is"
    elif answer is None:
        message = "does not exist; correct it, or leave it out with its name and one is made"
    else:
        path, value, message = (*_PATH, "workspace_name"), str(name), f"must be {there}, its name"
    command = f"aws grafana describe-workspace --workspace-id {identifier}"
    yield warning(path, value, message), command


def _has_identity_center(target: Target) -> bool:
    if target.client("sso-admin").list_instances()["Instances"]:
        return True
    everywhere = boto3.Session().get_available_regions("sso-admin", partition_name=target.partition)
    for region in everywhere:
        if region == target.region:
            continue
        try:
            if target.client("sso-admin", region).list_instances()["Instances"]:
                return True
        except ClientError as error:
            if code(error) not in _NOT_ENABLED:
                raise
    return False

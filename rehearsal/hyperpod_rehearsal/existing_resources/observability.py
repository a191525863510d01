"""What observability names: workspaces of Prometheus and Grafana, Identity Center, SNS topics."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.observability.section import MANAGED
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.aws.settings import WORKSPACE_ID
from hyperpod_rehearsal.existing_resources.resource import ExistingResource


def workspaces(config: Config) -> Iterator[ExistingResource]:
    """Yield the workspaces of Prometheus that the configuration uses and does not make."""
    for named in named_resources(config, "Prometheus workspace"):
        yield _prometheus_workspace(named.value.rpartition("/")[2])


def _prometheus_workspace(id_: str) -> ExistingResource:
    def make(clients: AwsClients) -> None:
        amp = clients("amp")
        if id_ not in {item["workspaceId"] for item in amp.list_workspaces()["workspaces"]}:
            amp.create_workspace(tags={WORKSPACE_ID: id_})

    return ExistingResource(f"Prometheus workspace {id_}", make)


def _enable_identity_center(clients: AwsClients) -> None:
    center = clients("sso-admin")
    if not center.list_instances()["Instances"]:
        center.create_instance()


IDENTITY_CENTER = ExistingResource("IAM Identity Center", _enable_identity_center)
"""The Identity Center of the account, without which there is no managed Grafana."""


def grafana_workspace(id_: str, *, name: str) -> ExistingResource:
    """Return a workspace of Grafana of another owner, which is made as another of its kind."""

    def make(clients: AwsClients) -> None:
        clients("grafana").create_workspace(
            accountAccessType="CURRENT_ACCOUNT",
            authenticationProviders=["AWS_SSO"],
            permissionType="CUSTOMER_MANAGED",
            workspaceName=name,
            tags={WORKSPACE_ID: id_},
        )

    return ExistingResource(f"Grafana workspace {id_}", make)


def grafana(config: Config) -> Iterator[ExistingResource]:
    """Yield what a managed Grafana needs, and the one that exists."""
    grafana = config.observability.grafana_of(MANAGED)
    if grafana is None:
        return
    yield IDENTITY_CENTER
    if grafana.workspace_arn is not None and grafana.workspace_name is not None:
        name = grafana.workspace_name
        yield grafana_workspace(grafana.workspace_arn.rpartition("/")[2], name=name)


def topics(config: Config) -> Iterator[ExistingResource]:
    """Yield the topics."""
    for named in named_resources(config, "SNS topic"):
        yield _topic(named.value)


def _topic(arn: str) -> ExistingResource:
    def make(clients: AwsClients) -> None:
        clients("sns").create_topic(Name=arn.rpartition(":")[2])

    return ExistingResource(f"SNS topic {arn}", make)

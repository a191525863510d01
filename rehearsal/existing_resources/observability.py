"""What observability names: workspaces of Prometheus and Grafana, Identity Center, SNS topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.aws.local_aws import AwsClients
from emulator.aws.settings import WORKSPACE_ID
from hyperpod_cdk import Config
from hyperpod_cdk.observability.grafana_section import MANAGED
from hyperpod_cdk.schema.named_resources import named_resources


@dataclass(frozen=True, kw_only=True, slots=True)
class PrometheusWorkspace:
    """A workspace of another owner.

    Attributes:
        id: Its ID.
    """

    id: str

    def __str__(self) -> str:
        return f"Prometheus workspace {self.id}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        amp = clients("amp")
        if self.id not in {each["workspaceId"] for each in amp.list_workspaces()["workspaces"]}:
            amp.create_workspace(tags={WORKSPACE_ID: self.id})


def workspaces(config: Config) -> Iterator[PrometheusWorkspace]:
    """Yield the workspaces that the configuration uses and does not make."""
    for named in named_resources(config):
        if named.kind == "Prometheus workspace":
            yield PrometheusWorkspace(id=named.value.rpartition("/")[2])


@dataclass(frozen=True, kw_only=True, slots=True)
class IdentityCenter:
    """The Identity Center of the account, without which there is no managed Grafana."""

    def __str__(self) -> str:
        return "IAM Identity Center"

    def make(self, clients: AwsClients) -> None:
        """Enable it unless it is."""
        center = clients("sso-admin")
        if not center.list_instances()["Instances"]:
            center.create_instance()


@dataclass(frozen=True, kw_only=True, slots=True)
class GrafanaWorkspace:
    """A workspace of another owner.

    Attributes:
        id: Its ID.
        name: Its name.
    """

    id: str
    name: str

    def __str__(self) -> str:
        return f"Grafana workspace {self.id}"

    def make(self, clients: AwsClients) -> None:
        """Create it, as another of its kind would be."""
        clients("grafana").create_workspace(
            accountAccessType="CURRENT_ACCOUNT",
            authenticationProviders=["AWS_SSO"],
            permissionType="CUSTOMER_MANAGED",
            workspaceName=self.name,
            tags={WORKSPACE_ID: self.id},
        )


def grafana(config: Config) -> Iterator[IdentityCenter | GrafanaWorkspace]:
    """Yield what a managed Grafana needs, and the one that exists."""
    found = config.observability.grafana_of(MANAGED)
    if found is None:
        return
    yield IdentityCenter()
    if found.workspace_arn is not None and found.workspace_name is not None:
        identifier = found.workspace_arn.rpartition("/")[2]
        yield GrafanaWorkspace(id=identifier, name=found.workspace_name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Topic:
    """A topic.

    Attributes:
        arn: Its ARN.
    """

    arn: str

    def __str__(self) -> str:
        return f"SNS topic {self.arn}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        clients("sns").create_topic(Name=self.arn.rpartition(":")[2])


def topics(config: Config) -> Iterator[Topic]:
    """Yield the topics."""
    for named in named_resources(config):
        if named.kind == "SNS topic":
            yield Topic(arn=named.value)

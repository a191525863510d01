"""Workspaces of Prometheus that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.aws.local_aws import AwsClients
from emulator.aws.settings import WORKSPACE_ID
from hyperpod_cdk import Config
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

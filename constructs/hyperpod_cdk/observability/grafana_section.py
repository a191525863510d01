"""The `observability.grafana` section: where the dashboards are shown."""

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field

from hyperpod_cdk.schema.arns import GrafanaWorkspaceArn
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import Matching, OneOf
from hyperpod_cdk.schema.section import Section, Task

MANAGED: Final = "managed"
IN_CLUSTER: Final = "in_cluster"
RELEASE: Final = "hyperpod-grafana"
"""Name of the Helm release of the one in the cluster, of its namespace and of what is in it."""

_TASK = Task("see dashboards in Grafana")

# https://docs.aws.amazon.com/grafana/latest/APIReference/API_CreateWorkspace.html
_Name = Annotated[
    str,
    Matching(
        pattern=r"[A-Za-z0-9._~-]{1,255}",
        rule="must be 1 to 255 letters, digits and . _ ~ -, the name of a workspace",
    ),
]


class GrafanaConfig(Section):
    """A Grafana with the metrics of Prometheus: Amazon Managed Grafana, or a pod in the cluster."""

    kind: Annotated[str, OneOf(values=(MANAGED, IN_CLUSTER), noun="a kind of Grafana"), _TASK]
    """managed: a workspace of Amazon Managed Grafana, whose users sign in by IAM Identity Center,
    which the account must have. in_cluster: a pod, seen by users who may forward its port;
    it needs no Identity Center."""

    workspace_arn: Annotated[GrafanaWorkspaceArn | None, _TASK] = None
    """ARN of a workspace of your own in this region, which stays as it is; its role must be able to
    query Prometheus. With managed alone. Default: a workspace is made."""

    workspace_name: Annotated[_Name | None, Field(examples=["research"])] = None
    """The name of that workspace. Default: none, for one that is made."""

    delete_with_stack: bool = False
    """Whether a workspace that is made goes with its stack, with the dashboards and alerts that
    users made there. Default: false, it stays."""

    def _findings(self) -> Iterator[Finding]:
        given = {
            "workspace_arn": self.workspace_arn,
            "workspace_name": self.workspace_name,
            "delete_with_stack": self.delete_with_stack or None,
        }
        if self.kind == IN_CLUSTER:
            for key, value in given.items():
                if value is not None:
                    message = f"must be left out: it is for kind: {MANAGED}"
                    yield Finding(path=(key,), value=value, message=message)
        elif (self.workspace_arn is None) != (self.workspace_name is None):
            key = "workspace_name" if self.workspace_name is None else "workspace_arn"
            message = "must be given too: a workspace of your own has both an ARN and a name"
            yield Finding(path=(key,), value=None, message=message)

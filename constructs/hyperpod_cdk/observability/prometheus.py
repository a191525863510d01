"""Metrics of the cluster in Amazon Managed Service for Prometheus."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from aws_cdk import ArnFormat, Aws, CfnDeletionPolicy, CfnResource, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.observability.alert_manager import alert_manager
from hyperpod_cdk.observability.section import METRICS_ADDON, METRICS_NAMESPACE, PrometheusConfig
from hyperpod_cdk.synthesis.reasons import (
    inline_policy,
    statement,
)

# https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-troubleshooting.html
_SERVICE_ACCOUNT = "hyperpod-observability-operator-otel-collector"
_LOG_GROUPS = "/aws/sagemaker/Clusters/*"


class Grafana(Protocol):
    """A workspace of Amazon Managed Grafana, new or existing."""

    @property
    def workspace_arn(self) -> str:
        """Its ARN."""
        ...

    @property
    def workspace_name(self) -> str:
        """Its name."""
        ...

    @property
    def url(self) -> str:
        """Where it is."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedWorkspace:
    """A workspace that exists, which the deployment neither changes nor deletes.

    Attributes:
        workspace_arn: Its ARN.
    """

    workspace_arn: str

    @property
    def workspace_id(self) -> str:
        """Its ID."""
        return self.workspace_arn.rpartition("/")[2]


class PrometheusWorkspace(Construct):
    """A workspace of Amazon Managed Service for Prometheus, kept when its stack is deleted.

    Args:
        alias: What it is called in the console.
        delete_with_stack: Whether it goes with its stack, with all metrics. Default: false.

    Attributes:
        workspace_arn: Its ARN.
        workspace_id: Its ID.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        alias: str,
        delete_with_stack: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        # L1: the CDK has no other. A key of AWS's own encrypts the metrics.
        self._workspace = workspace = aps.CfnWorkspace(self, "Workspace", alias=alias)
        keep(workspace, unless=delete_with_stack)
        self.workspace_arn = workspace.attr_arn
        self.workspace_id = workspace.attr_workspace_id

    def tell(self, topic_arn: str, *, in_slack: bool) -> None:
        """Let the alert manager tell a topic, which must let `aps.amazonaws.com` publish.

        Args:
            topic_arn: The topic.
            in_slack: Whether Amazon Q Developer in chat applications reads it.
        """
        self._workspace.alert_manager_definition = alert_manager(
            topic_arn=topic_arn, region=Stack.of(self).region, in_slack=in_slack
        )


def keep(resource: CfnResource, *, unless: bool) -> None:
    """Let a resource stay when it is replaced, and also when its stack is deleted."""
    kept = CfnDeletionPolicy.RETAIN_EXCEPT_ON_CREATE
    resource.cfn_options.deletion_policy = CfnDeletionPolicy.DELETE if unless else kept
    resource.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN


Workspace: TypeAlias = PrometheusWorkspace | ImportedWorkspace
"""A workspace of Prometheus, new or existing."""


def workspace_of(
    scope: Construct, construct_id: str, *, prometheus: PrometheusConfig, alias: str
) -> Workspace:
    """Return the workspace that a configuration names, or a new one, called by the alias."""
    if prometheus.workspace_arn is not None:
        return ImportedWorkspace(workspace_arn=prometheus.workspace_arn)
    return PrometheusWorkspace(
        scope, construct_id, alias=alias, delete_with_stack=prometheus.delete_with_stack
    )


def endpoint_of(scope: Construct, workspace: Workspace) -> str:
    """Return the URL of a workspace, without a slash at its end."""
    host = f"aps-workspaces.{Stack.of(scope).region}.{Aws.URL_SUFFIX}"
    return f"https://{host}/workspaces/{workspace.workspace_id}"


class HyperPodMetrics(Construct):
    """The EKS add-on amazon-sagemaker-hyperpod-observability, and the role of its collectors.

    It needs a node: make it after the nodes.

    Args:
        cluster: The EKS cluster; with the add-on eks-pod-identity-agent.
        control_plane: The section that describes it, for the Kubernetes version.
        prometheus: What is collected.
        workspace: Where it goes.
        grafana: A workspace of Amazon Managed Grafana that shows it. Default: none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        control_plane: EksConfig,
        prometheus: PrometheusConfig,
        workspace: Workspace,
        grafana: Grafana | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Collector",
            cluster=cluster,
            namespace=METRICS_NAMESPACE,
            service_account=_SERVICE_ACCOUNT,
            description="Writes metrics of the cluster to Prometheus",
        )
        policy = self._policy(role, prometheus=prometheus, workspace=workspace)
        values = {
            **prometheus.to_request(),
            "ampWorkspace": {
                "prometheusEndpoint": endpoint_of(self, workspace),
                "arn": workspace.workspace_arn,
            },
        }
        if grafana is not None:
            values["amgWorkspace"] = {
                "workspaceName": grafana.workspace_name,
                "arn": grafana.workspace_arn,
            }
        made = add_addons(
            self,
            [METRICS_ADDON],
            cluster=cluster,
            kubernetes_version=control_plane.version,
            configuration={METRICS_ADDON: values},
        )
        made[METRICS_ADDON].node.add_dependency(role, policy)

    def _policy(
        self, role: PodRole, *, prometheus: PrometheusConfig, workspace: Workspace
    ) -> iam.Policy:
        statements = [
            statement(
                self,
                sid="WriteMetrics",
                why="The collectors write what they have read, to this workspace alone.",
                added_by="`observability.prometheus`",
                actions=["aps:RemoteWrite"],
                resources=[workspace.workspace_arn],
            )
        ]
        if prometheus.container_logs:
            stack = Stack.of(self)
            groups = stack.format_arn(
                service="logs",
                resource="log-group",
                resource_name=_LOG_GROUPS,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            statements.append(
                statement(
                    self,
                    sid="WriteLogs",
                    why="Fluent Bit writes what containers log, to log groups of HyperPod.",
                    added_by="`observability.prometheus.container_logs`",
                    actions=[
                        "logs:CreateLogGroup",
                        "logs:CreateLogStream",
                        "logs:DescribeLogStreams",
                        "logs:PutLogEvents",
                    ],
                    resources=[groups, f"{groups}:log-stream:*"],
                    wildcard="HyperPod draws the last part of the names of its log groups.",
                )
            )
        return inline_policy(self, "Policy", role=role.role, statements=statements)

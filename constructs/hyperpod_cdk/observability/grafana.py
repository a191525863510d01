"""Grafana with the metrics of a workspace of Prometheus: Amazon's, or a pod in the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from aws_cdk import ArnFormat, Aws, CfnResource, Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_grafana as grafana
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.observability.prometheus import Grafana, Workspace, endpoint_of, keep
from hyperpod_cdk.observability.section import RELEASE, GrafanaConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.reasons import (
    inline_policy,
    statement,
)

# The newest that AWS names in its API, which signs queries by its own data source of Prometheus.
# https://docs.aws.amazon.com/grafana/latest/APIReference/API_CreateWorkspace.html
_MANAGED_VERSION = "10.4"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedGrafana:
    """A workspace of Amazon Managed Grafana that exists, which the deployment does not change.

    Attributes:
        workspace_arn: Its ARN.
        workspace_name: Its name.
    """

    workspace_arn: str
    workspace_name: str

    @property
    def url(self) -> str:
        """Where it is."""
        region, identifier = self.workspace_arn.split(":")[3], self.workspace_arn.rpartition("/")[2]
        return f"https://{identifier}.grafana-workspace.{region}.{Aws.URL_SUFFIX}"


class GrafanaWorkspace(Construct):
    """A workspace of Amazon Managed Grafana, whose users sign in by IAM Identity Center.

    Without Identity Center in the account or its organization, its creation fails. It is kept when
    its stack is deleted, with what users have made in it. No one has rights in it until you assign
    them: https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-users-and-groups-AMG.html

    Args:
        name: Its name.
        prometheus: The workspace of Prometheus that it queries.
        delete_with_stack: Whether it goes with its stack. Default: false.

    Attributes:
        workspace_arn: Its ARN.
        workspace_name: Its name.
        url: Where it is.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        prometheus: Workspace,
        delete_with_stack: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            description="Reads metrics for Grafana",
            assumed_by=iam.ServicePrincipal(
                "grafana.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
        )
        policy = _policy(self, role, prometheus=prometheus, cloudwatch=True)
        # L1: the CDK has no other.
        workspace = grafana.CfnWorkspace(
            self,
            "Workspace",
            name=name,
            account_access_type="CURRENT_ACCOUNT",
            authentication_providers=["AWS_SSO"],
            permission_type="CUSTOMER_MANAGED",
            role_arn=role.role_arn,
            grafana_version=_MANAGED_VERSION,
        )
        workspace.node.add_dependency(policy)
        # A workspace that stays queries with the role.
        for part in (workspace, role.node.default_child, policy.node.default_child):
            assert isinstance(part, CfnResource)  # noqa: S101 - what the L2s make
            keep(part, unless=delete_with_stack)
        # CloudFormation gives no ARN.
        self.workspace_arn = Stack.of(self).format_arn(
            service="grafana",
            resource="/workspaces",
            resource_name=workspace.attr_id,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        self.workspace_name = name
        self.url = f"https://{workspace.attr_endpoint}"


def grafana_of(
    scope: Construct, construct_id: str, *, config: GrafanaConfig, name: str, prometheus: Workspace
) -> Grafana:
    """Return the workspace of Amazon Managed Grafana that a configuration names, or a new one."""
    if config.workspace_arn is not None and config.workspace_name is not None:
        return ImportedGrafana(
            workspace_arn=config.workspace_arn, workspace_name=config.workspace_name
        )
    return GrafanaWorkspace(
        scope,
        construct_id,
        name=name,
        prometheus=prometheus,
        delete_with_stack=config.delete_with_stack,
    )


class GrafanaInCluster(Construct):
    """A Grafana in the Kubernetes cluster, with dashboards that are read-only.

    It listens within its pod alone and has no sign-in, so that Kubernetes decides who sees it:
    those who may forward a port of its pod. There is no password, and nothing to keep.

    Args:
        cluster: The EKS cluster; with the add-on eks-pod-identity-agent.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        prometheus: The workspace of Prometheus that it queries.
        dashboards: Models of the dashboards by the names of their files.
        cloudwatch: Whether dashboards show metrics of CloudWatch, too.
        image: Name of its image. Default: the chart's, by its digest.

    Attributes:
        command: What forwards its port; it is at http://localhost:3000 then.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        prometheus: Workspace,
        dashboards: Mapping[str, Mapping[str, Any]],
        cloudwatch: bool = False,
        image: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Pod",
            cluster=cluster,
            namespace=RELEASE,
            service_account=RELEASE,
            description="Reads metrics for Grafana",
        )
        policy = _policy(self, role.role, prometheus=prometheus, cloudwatch=cloudwatch)
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "grafana",
            release=RELEASE,
            namespace="kube-system",
            values={
                "region": Stack.of(self).region,
                "prometheus": endpoint_of(self, prometheus),
                "cloudwatch": cloudwatch,
                "dashboards": dict(dashboards),
                **({} if image is None else {"image": image}),
            },
            # A pod gets its role if the association is there before it starts.
            depends_on=[role, policy],
        )
        self.command = f"kubectl port-forward -n {RELEASE} deployment/{RELEASE} 3000"


def _policy(
    scope: Construct, role: iam.Role, *, prometheus: Workspace, cloudwatch: bool
) -> iam.Policy:
    allow = partial(statement, scope, added_by="`observability.grafana`")
    # https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-onboard-query-standalone-grafana.html
    query = allow(
        sid="QueryMetrics",
        why="Grafana queries this workspace of Prometheus, and looks up names and labels there.",
        actions=["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"],
        resources=[prometheus.workspace_arn],
    )
    if not cloudwatch:
        return inline_policy(scope, "Policy", role=role, statements=[query])
    # https://grafana.com/docs/grafana/latest/datasources/aws-cloudwatch/configure/
    read = allow(
        sid="ReadCloudWatch",
        why="Grafana shows what is in CloudWatch alone, such as metrics of file systems.",
        actions=["cloudwatch:GetMetricData", "cloudwatch:ListMetrics"],
        resources=["*"],
        wildcard="Metrics of CloudWatch are no resources: a role that reads some can read all.",
    )
    return inline_policy(scope, "Policy", role=role, statements=[query, read])

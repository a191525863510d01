"""What lives as long as the nodes: the operators and the collectors that run on them."""

from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.service_account_role import token_issuer_of
from hyperpod_cdk.governance.governance import TaskGovernance
from hyperpod_cdk.observability.grafana import GrafanaInCluster, grafana_of
from hyperpod_cdk.observability.notifications import topic_name
from hyperpod_cdk.observability.prometheus import (
    HyperPodMetrics,
    PrometheusWorkspace,
    endpoint_of,
    workspace_of,
)
from hyperpod_cdk.observability.section import MANAGED, PrometheusConfig
from hyperpod_cdk.operators.inference import ClusterArnParameter, InferenceSetup
from hyperpod_cdk.operators.operators import Operators
from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.grafana import dashboards, reads_cloudwatch
from hyperpod_cdk.panels.resources import PrometheusRules
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind, cluster_arn_parameter, stack_name


class OperatorsStack(DeployedStack):
    """The add-ons that need a node first; made after the nodes, and deleted before them."""

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, platform = stacks.config, stacks.of(PlatformStack)
        if config.operators.addons:
            Operators(
                self,
                "Operators",
                cluster=platform.eks_cluster,
                control_plane=config.eks,
                operators=config.operators,
                hyperpod_stack_name=stack_name(config, "hyperpod"),
                inference=self._inference(config, platform),
                data_buckets=config.cluster.data_buckets,
            )
        if config.governance is not None:
            TaskGovernance(
                self,
                "TaskGovernance",
                cluster=platform.eks_cluster,
                control_plane=config.eks,
                hyperpod_cluster_name=platform.cluster.name,
                provisioner=platform.provisioner,
                governance=config.governance,
                teams=config.governed_teams,
                hyperpod_stack_name=stack_name(config, "hyperpod"),
            )
        if config.observability.prometheus is not None:
            self._add_metrics(config, config.observability.prometheus, platform=platform)

    def _add_metrics(
        self, config: Config, prometheus: PrometheusConfig, *, platform: PlatformStack
    ) -> None:
        shown = config.observability.grafana
        # Beside what uses it: an export in use would keep it from being switched off.
        workspace = workspace_of(self, "Prometheus", prometheus=prometheus, alias=config.name)
        topic_arn = self._topic_arn(config)
        if topic_arn is not None and isinstance(workspace, PrometheusWorkspace):
            notifications = config.observability.notifications
            in_slack = notifications is not None and notifications.slack is not None
            workspace.tell(topic_arn, in_slack=in_slack)
        grafana, panels = None, watched(config)
        if shown is not None and shown.kind == MANAGED:
            grafana = grafana_of(
                self, "Grafana", config=shown, name=config.name, prometheus=workspace
            )
            self.add_outputs({"GrafanaUrl": grafana.url})
        elif shown is not None:
            in_cluster = GrafanaInCluster(
                self,
                "Grafana",
                cluster=platform.eks_cluster,
                provisioner=platform.provisioner,
                prometheus=workspace,
                dashboards=dashboards(panels),
                cloudwatch=reads_cloudwatch(panels),
                image=config.grafana_image,
            )
            self.add_outputs({"GrafanaCommand": in_cluster.command})
        HyperPodMetrics(
            self,
            "Metrics",
            cluster=platform.eks_cluster,
            control_plane=config.eks,
            prometheus=prometheus,
            workspace=workspace,
            grafana=grafana,
        )
        PrometheusRules(self, "Rules", watched=panels, workspace_arn=workspace.workspace_arn)
        self.add_outputs(
            {
                "PrometheusWorkspaceArn": workspace.workspace_arn,
                "PrometheusEndpoint": endpoint_of(self, workspace),
            }
        )

    def _topic_arn(self, config: Config) -> str | None:
        """Return the topic that alarms tell, by its name: an export in use cannot be taken away."""
        notifications = config.observability.notifications
        if notifications is None:
            return None
        name = topic_name(stack_name(config, "observability"))
        return notifications.topic_arn or self.format_arn(service="sns", resource=name)

    def _inference(self, config: Config, platform: PlatformStack) -> InferenceSetup | None:
        if not config.operators.inference_operator:
            return None
        return InferenceSetup(
            issuer=token_issuer_of(
                self,
                "OidcProvider",
                cluster=platform.eks_cluster,
                oidc_provider_arn=config.eks.oidc_provider_arn,
            ),
            hyperpod_cluster_arn=ClusterArnParameter.value(
                self, name=cluster_arn_parameter(config)
            ),
            vpc_id=platform.network.vpc.vpc_id,
            eks_cluster_name=config.eks_cluster_name,
            name=config.name,
            access_log_days=config.log_retention_days,
        )

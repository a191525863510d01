"""The `observability` section: metrics, dashboards and messages, each by a switch."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from hyperpod_cdk.observability.budget_section import BudgetConfig
from hyperpod_cdk.observability.grafana_section import GrafanaConfig
from hyperpod_cdk.observability.notifications_section import NotificationsConfig
from hyperpod_cdk.schema.arns import PrometheusWorkspaceArn
from hyperpod_cdk.schema.limits import Between, OneOf
from hyperpod_cdk.schema.section import EKS, Api, OfHyperPod, OrchestratedBy, Section, Task

CLOUDWATCH_ADDON: Final = "amazon-cloudwatch-observability"
METRICS_ADDON: Final = "amazon-sagemaker-hyperpod-observability"
KEYS: Final[Mapping[str, str]] = {CLOUDWATCH_ADDON: "cloudwatch", METRICS_ADDON: "prometheus"}
"""Key of each add-on."""

_CLOUDWATCH, _PROMETHEUS = Task("see metrics in CloudWatch"), Task("see metrics in Prometheus")

# https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-cluster-metrics.html
BASIC, ADVANCED, DISABLED = "BASIC", "ADVANCED", "DISABLED"
_NOUN = "a level of these metrics"
_Level = Annotated[str, OneOf(values=(BASIC, ADVANCED), noun=_NOUN)]
_Optional = Annotated[str, OneOf(values=(DISABLED, ADVANCED), noun=_NOUN)]


class CloudWatchConfig(Section):
    """Container Insights: metrics of nodes and pods, and logs of containers, in CloudWatch."""

    accelerators: Annotated[bool, _CLOUDWATCH] = True
    """Whether to collect metrics of GPUs, Trainium and EFA. Must be false with prometheus, which
    has them. Default: true."""

    container_logs: bool = True
    """Whether to collect what containers and nodes log. Default: true."""

    def to_request(self) -> dict[str, Any]:
        """Return the configuration values of the add-on.

        They take the place of its defaults, which would also switch on Application Signals, with
        a price for each request of users' services.
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Observability-EKS-addon.html
        """
        kubernetes = {
            "enhanced_container_insights": True,
            "accelerated_compute_metrics": self.accelerators,
        }
        return {
            "agent": {"config": {"logs": {"metrics_collected": {"kubernetes": kubernetes}}}},
            "containerLogs": {"enabled": self.container_logs},
        }


class MetricLevelsConfig(Section):
    """How much is collected of each kind of metrics; AWS bills each sample."""

    cluster: Annotated[_Level, Api("customMetrics.level")] = BASIC
    """Of the objects in Kubernetes. Default: BASIC."""

    nodes: Annotated[_Level, Api("nodeMetrics.level")] = BASIC
    """Of CPUs, memory and disks. Default: BASIC."""

    accelerators: Annotated[
        _Level, Api("acceleratedComputeMetrics.level"), Field(examples=[ADVANCED])
    ] = BASIC
    """Of GPUs and Trainium; ADVANCED has all that the exporters have. Default: BASIC."""

    network: Annotated[_Optional, Api("networkMetrics.level"), _PROMETHEUS] = DISABLED
    """Of EFA: ADVANCED or DISABLED. Default: DISABLED."""

    training: Annotated[_Level, Api("trainingMetrics.level")] = BASIC
    """Of jobs and their faults. Default: BASIC."""

    inference: Annotated[_Level, Api("inferenceMetrics.level")] = BASIC
    """Of models that are served. Default: BASIC."""

    task_governance: Annotated[_Optional, Api("taskGovernanceMetrics.level")] = DISABLED
    """Of queues and quotas: ADVANCED or DISABLED. Default: DISABLED."""

    scaling: Annotated[_Optional, Api("scalingMetrics.level")] = DISABLED
    """Of autoscaling: ADVANCED or DISABLED. Default: DISABLED."""


class PrometheusConfig(Section):
    """Metrics of the cluster in Amazon Managed Service for Prometheus, by HyperPod's add-on."""

    workspace_arn: Annotated[PrometheusWorkspaceArn | None, _PROMETHEUS] = None
    """ARN of a workspace of your own in this region, which stays as it is, such as one that a
    former deployment has left. Default: a workspace is made."""

    delete_with_stack: bool = False
    """Whether the workspace goes with its stack, and all metrics with it; they are kept for 150
    days. Default: false, it stays."""

    scrape_interval_seconds: Annotated[int, Between(5, 300), Field(examples=[60])] = 30
    """How often metrics are read. Half as often is half the price. Default: 30."""

    metrics: MetricLevelsConfig = MetricLevelsConfig()
    """How much is collected."""

    container_logs: bool = False
    """Whether the add-on sends what containers log to CloudWatch. Default: false."""

    def to_request(self) -> dict[str, Any]:
        """Return the configuration values of the add-on, but for the workspace."""
        interval = {"scrapeInterval": self.scrape_interval_seconds}
        levels = self.metrics.to_request()
        return {
            "metricsProvider": {name: {**level, **interval} for name, level in levels.items()},
            "logging": {"enabled": self.container_logs},
        }


class ObservabilityConfig(Section):
    """What a deployment shows of itself, and whom it tells."""

    cloudwatch: Annotated[
        CloudWatchConfig | None, OrchestratedBy(EKS), Field(examples=[{}]), _CLOUDWATCH
    ] = None
    """Metrics and logs in CloudWatch, by the add-on amazon-cloudwatch-observability. Default:
    none."""

    prometheus: Annotated[
        PrometheusConfig | None,
        OrchestratedBy(EKS),
        OfHyperPod(),
        Field(examples=[{}]),
        _PROMETHEUS,
    ] = None
    """Metrics in Amazon Managed Service for Prometheus, by the add-on
    amazon-sagemaker-hyperpod-observability; needs a node of a 4xlarge or larger. Default: none."""

    grafana: Annotated[
        GrafanaConfig | None,
        OrchestratedBy(EKS),
        OfHyperPod(),
        Field(examples=[{"kind": "managed"}]),
    ] = None
    """Dashboards in Grafana; needs prometheus. Default: none."""

    notifications: Annotated[
        NotificationsConfig | None,
        OfHyperPod(),
        Field(examples=[{}]),
        Task("get messages when something fails"),
    ] = None
    """A topic for what happens to the cluster. Default: none."""

    budget: Annotated[
        BudgetConfig | None,
        Field(examples=[{"monthly_usd": 20000, "emails": ["ml-platform@example.com"]}]),
        Task("get messages before a budget is spent"),
    ] = None
    """What a month may cost, and who gets a message. Default: none."""

    @property
    def has_stack(self) -> bool:
        """Whether something is made before the nodes: Prometheus and Grafana come after."""
        beside = self.model_copy(update={"prometheus": None, "grafana": None})
        return beside != ObservabilityConfig()

    def grafana_of(self, kind: str) -> GrafanaConfig | None:
        """Return the Grafana that shows the metrics if it is of a kind, else None."""
        return self.grafana if self.grafana is not None and self.grafana.kind == kind else None

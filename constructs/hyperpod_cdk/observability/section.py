"""The `observability` section: metrics, dashboards and messages, each by a switch."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hyperpod_cdk.schema.arns import GrafanaWorkspaceArn, PrometheusWorkspaceArn, SnsTopicArn
from hyperpod_cdk.schema.errors import Finding, Findings, error
from hyperpod_cdk.schema.limits import EmailAddress, Message
from hyperpod_cdk.schema.section import (
    EKS,
    Api,
    ListedOnce,
    OfHyperPod,
    OrchestratedBy,
    Section,
)
from hyperpod_cdk.schema.words import after_deletion, counted

CLOUDWATCH_ADDON: Final = "amazon-cloudwatch-observability"
CLOUDWATCH_NAMESPACE: Final = "amazon-cloudwatch"
METRICS_NAMESPACE: Final = "hyperpod-observability"
METRICS_ADDON: Final = "amazon-sagemaker-hyperpod-observability"
KEYS: Final[Mapping[str, str]] = {CLOUDWATCH_ADDON: "cloudwatch", METRICS_ADDON: "prometheus"}
"""Key of each add-on."""


# https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-cluster-metrics.html
_Level = Literal["BASIC", "ADVANCED"]
_Optional = Literal["DISABLED", "ADVANCED"]


class CloudWatchConfig(Section):
    """Container Insights: metrics of nodes and pods, and logs of containers, in CloudWatch."""

    accelerators: bool = True
    """Whether to collect metrics of GPUs, Trainium and EFA. Must be false with prometheus, which
    collects them. Default: true."""

    container_logs: bool = True
    """Whether to collect what containers and nodes log. Default: true."""

    @property
    def summary(self) -> str:
        """What it collects, in a line."""
        logs = " and logs of containers" if self.container_logs else ""
        return f"Container Insights: metrics{logs} in CloudWatch"

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

    cluster: Annotated[_Level, Api("customMetrics.level")] = "BASIC"
    """Of the objects in Kubernetes. Default: BASIC."""

    nodes: Annotated[_Level, Api("nodeMetrics.level")] = "BASIC"
    """Of CPUs, memory and disks. Default: BASIC."""

    accelerators: Annotated[
        _Level, Api("acceleratedComputeMetrics.level"), Field(examples=["ADVANCED"])
    ] = "BASIC"
    """Of GPUs and Trainium; ADVANCED collects everything that the exporters offer. Default:
    BASIC."""

    network: Annotated[_Optional, Api("networkMetrics.level")] = "DISABLED"
    """Of EFA: ADVANCED or DISABLED. Default: DISABLED."""

    training: Annotated[_Level, Api("trainingMetrics.level")] = "BASIC"
    """Of jobs and their faults. Default: BASIC."""

    inference: Annotated[_Level, Api("inferenceMetrics.level")] = "BASIC"
    """Of models that are served. Default: BASIC."""

    task_governance: Annotated[_Optional, Api("taskGovernanceMetrics.level")] = "DISABLED"
    """Of queues and quotas: ADVANCED or DISABLED. Default: DISABLED."""

    scaling: Annotated[_Optional, Api("scalingMetrics.level")] = "DISABLED"
    """Of autoscaling: ADVANCED or DISABLED. Default: DISABLED."""


class PrometheusConfig(Section):
    """Metrics of the cluster in Amazon Managed Service for Prometheus, by HyperPod's add-on."""

    workspace_arn: PrometheusWorkspaceArn | None = None
    """ARN of a workspace of your own in this region, which is not changed, such as one from an
    earlier deployment. Default: a workspace is made."""

    delete_with_stack: bool = False
    """Whether the workspace and all of its metrics are deleted with the stack; metrics are kept for
    150 days. Default: false, it stays."""

    scrape_interval_seconds: Annotated[int, Field(ge=5, le=300), Field(examples=[60])] = 30
    """How often metrics are read. Twice the interval costs half as much. Default: 30."""

    metrics: MetricLevelsConfig = MetricLevelsConfig()
    """How much is collected."""

    container_logs: bool = False
    """Whether the add-on sends what containers log to CloudWatch. Default: false."""

    @property
    def summary(self) -> str:
        """What the workspace is, in a line."""
        if self.workspace_arn is not None:
            return f"workspace of Prometheus {self.workspace_arn.rpartition('/')[2]}, which exists"
        kept = after_deletion(delete_with_stack=self.delete_with_stack)
        return f"workspace of Prometheus, {kept}"

    def to_request(self) -> dict[str, Any]:
        """Return the configuration values of the add-on, but for the workspace."""
        interval = {"scrapeInterval": self.scrape_interval_seconds}
        levels = self.metrics.to_request()
        return {
            "metricsProvider": {name: {**level, **interval} for name, level in levels.items()},
            "logging": {"enabled": self.container_logs},
        }


# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-budgets-budget.html
_MOST_NOTIFICATIONS, _MOST_EMAILS = 5, 10


class BudgetConfig(Section):
    """A budget in AWS Budgets, which sends messages about costs; it does not stop anything."""

    monthly_usd: Annotated[int, Field(ge=1, le=1_000_000_000), Field(examples=[20000])]
    """Monthly budget in USD, for everything that AWS bills."""

    percent: Annotated[
        ListedOnce[Annotated[int, Field(ge=1, le=1000)]], Field(examples=[[50, 90]])
    ] = (80, 100)
    """When a message is sent: up to five percentages of monthly_usd. Default: 80 and 100."""

    emails: Annotated[ListedOnce[EmailAddress], Field(examples=[["ml-platform@example.com"]])] = ()
    """Who gets an e-mail, up to ten. With observability.notifications, its topic gets it
    too. Default: none."""

    tag: Annotated[str | None, Field(examples=["team"])] = None
    """Key in tags whose value identifies the costs of this deployment. Activate it once as a cost
    allocation tag in AWS Billing. Default: the costs of the whole account."""

    @property
    def summary(self) -> str:
        """What it limits, in a line."""
        payer = "the account" if self.tag is None else f"what has the tag {self.tag}"
        return f"budget of {self.monthly_usd:,} USD a month for {payer}"

    def _findings(self) -> Findings:
        if not 1 <= len(self.percent) <= _MOST_NOTIFICATIONS:
            message = f"must list 1 to {_MOST_NOTIFICATIONS} percentages, and has"
            yield error(("percent",), [*self.percent], f"{message} {len(self.percent)}")
        if len(self.emails) > _MOST_EMAILS:
            message = f"must list at most {_MOST_EMAILS} addresses, and has {len(self.emails)}"
            yield error(("emails",), [*self.emails], message)


MANAGED: Final = "managed"
IN_CLUSTER: Final = "in_cluster"
RELEASE: Final = "hyperpod-grafana"
"""Name of the Helm release of the one in the cluster, of its namespace and of what is in it."""


# https://docs.aws.amazon.com/grafana/latest/APIReference/API_CreateWorkspace.html
_Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9._~-]{1,255}$"),
    Message("must be 1 to 255 letters, digits and . _ ~ -, the name of a workspace"),
]


class GrafanaConfig(Section):
    """A Grafana with the metrics of Prometheus: Amazon Managed Grafana, or a pod in the cluster."""

    kind: Literal["managed", "in_cluster"]
    """managed: a workspace of Amazon Managed Grafana, whose users sign in with IAM Identity Center,
    which the account must have. in_cluster: a pod, for users who may forward its port; it needs no
    Identity Center."""

    workspace_arn: GrafanaWorkspaceArn | None = None
    """ARN of a workspace of your own in this region, which is not changed; its role must be able to
    query Prometheus. Only with managed. Default: a workspace is made."""

    workspace_name: Annotated[_Name | None, Field(examples=["research"])] = None
    """The name of that workspace. Default: none, for one that is made."""

    delete_with_stack: bool = False
    """Whether a new workspace is deleted with its stack, including the dashboards and alerts of
    users. Default: false, it stays."""

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        if self.kind == IN_CLUSTER:
            return "Grafana in the cluster, with the dashboards"
        if self.workspace_arn is not None:
            return f"workspace of Amazon Managed Grafana {self.workspace_name}, which exists"
        kept = after_deletion(delete_with_stack=self.delete_with_stack)
        return f"workspace of Amazon Managed Grafana, {kept}"

    def _findings(self) -> Findings:
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


# https://docs.aws.amazon.com/chatbot/latest/APIReference/API_SlackChannelConfiguration.html allows
# any letters; Slack's own begin so: https://api.slack.com/tutorials/tracks/understanding-oauth-scopes-bot
SlackWorkspaceId = Annotated[
    str,
    Field(pattern=r"^T[0-9A-Z]{8,254}$"),
    Message(
        "must be the ID of a Slack workspace such as T0123456789, as its address in a browser "
        "has it"
    ),
]
SlackChannelId = Annotated[
    str,
    Field(pattern=r"^[CG][0-9A-Z]{8,254}$"),
    Message(
        "must be the ID of a Slack channel such as C0123456789, at the end of the channel's "
        "details; its name is none"
    ),
]
Minutes = Annotated[int, Field(ge=10, le=24 * 60)]


class SlackConfig(Section):
    """A Slack channel that Amazon Q Developer in chat applications posts messages in."""

    workspace_id: SlackWorkspaceId
    """The workspace, which an administrator has connected once in the console of Amazon Q Developer
    in chat applications."""

    channel_id: SlackChannelId
    """The channel. Into a private one, invite @Amazon Q."""


class NotificationsConfig(Section):
    """An SNS topic for messages about the cluster: one for each fault, with its cause."""

    emails: Annotated[ListedOnce[EmailAddress], Field(examples=[["ml-platform@example.com"]])] = ()
    """Who gets an e-mail of each message. Each must confirm the subscription once. Default:
    none."""

    slack: Annotated[
        SlackConfig | None,
        Field(examples=[{"workspace_id": "T0123456789", "channel_id": "C0123456789"}]),
    ] = None
    """A Slack channel that gets each message. Default: none."""

    topic_arn: SnsTopicArn | None = None
    """A topic of yours in the same region that gets the messages. Default: the deployment makes
    one."""

    patience_minutes: Annotated[Minutes, Field(examples=[120])] = 60
    """Minutes until a message is sent about missing nodes without a known cause, and about faulty
    nodes that were not replaced. 10 to 1440. Default: 60."""

    @property
    def summary(self) -> str:
        """Who gets messages, in a line."""
        readers = []
        if self.topic_arn is not None:
            readers.append(f"topic {self.topic_arn.rpartition(':')[2]}")
        if self.emails:
            readers.append(counted(len(self.emails), "e-mail address", "es"))
        if self.slack is not None:
            readers.append(f"Slack channel {self.slack.channel_id}")
        return f"messages about the cluster to {' and '.join(readers) or 'a topic without readers'}"


class ObservabilityConfig(Section):
    """Metrics, logs, dashboards and notifications of a deployment."""

    cloudwatch: Annotated[CloudWatchConfig | None, OrchestratedBy(EKS), Field(examples=[{}])] = None
    """Metrics and logs in CloudWatch, from the add-on amazon-cloudwatch-observability. Default:
    none."""

    prometheus: Annotated[
        PrometheusConfig | None, OrchestratedBy(EKS), OfHyperPod(), Field(examples=[{}])
    ] = None
    """Metrics in Amazon Managed Service for Prometheus, from the add-on
    amazon-sagemaker-hyperpod-observability; needs a node of a 4xlarge or larger. Default: none."""

    grafana: Annotated[
        GrafanaConfig | None,
        OrchestratedBy(EKS),
        OfHyperPod(),
        Field(examples=[{"kind": "managed"}]),
    ] = None
    """Dashboards in Grafana; needs prometheus. Default: none."""

    notifications: Annotated[NotificationsConfig | None, OfHyperPod(), Field(examples=[{}])] = None
    """An SNS topic for messages about the cluster. Default: none."""

    budget: Annotated[
        BudgetConfig | None,
        Field(examples=[{"monthly_usd": 20000, "emails": ["ml-platform@example.com"]}]),
    ] = None
    """A monthly budget, and who gets a message. Default: none."""

    @property
    def has_stack(self) -> bool:
        """Whether something is made before the nodes: Prometheus and Grafana come after."""
        beside = self.model_copy(update={"prometheus": None, "grafana": None})
        return beside != ObservabilityConfig()

    def grafana_of(self, kind: str) -> GrafanaConfig | None:
        """Return the Grafana that shows the metrics if it is of a kind, else None."""
        return self.grafana if self.grafana is not None and self.grafana.kind == kind else None

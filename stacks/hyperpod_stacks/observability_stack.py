"""What shows the cluster, and tells of it.

It is deployed while the nodes start: faults of the first ones are told, and nothing waits for it.
What needs a node is in the stack of operators, with what it writes to.
"""

from constructs import Construct

from hyperpod_cdk.observability.budget import Budget
from hyperpod_cdk.observability.cloudwatch import ContainerInsights
from hyperpod_cdk.observability.notifications import Notifications
from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.resources import PanelsAndAlarms
from hyperpod_cdk.panels.subjects import shown
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind


class ObservabilityStack(DeployedStack):
    """Metrics, dashboards and messages."""

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, platform = stacks.config, stacks.of(PlatformStack)
        observability = config.observability
        if observability.cloudwatch is not None:
            ContainerInsights(
                self,
                "ContainerInsights",
                cluster=platform.eks_cluster,
                cluster_name=config.eks_cluster_name,
                control_plane=config.eks,
                cloudwatch=observability.cloudwatch,
                log_groups=platform.log_groups,
            )
        topic, notifications = None, observability.notifications
        if notifications is not None:
            made = Notifications(
                self,
                "Notifications",
                notifications=notifications,
                cluster_name=config.cluster.name,
                training_plan_arns=config.cluster.training_plan_arns,
                node_groups=[(config.eks_cluster_name, each.name) for each in config.node_groups],
                on_slurm=config.cluster.orchestrator == "slurm",
                log_groups=platform.log_groups,
            )
            topic = made.topic
            if observability.prometheus is not None:
                made.let_publish("aps")
            self.add_outputs({"NotificationTopicArn": made.topic.topic_arn})
        seen = watched(config, outputs=stacks.stored)
        if any(shown(seen)):
            PanelsAndAlarms(self, "Panels", watched=seen, topic=topic)
        if observability.budget is not None:
            Budget(self, "Budget", budget=observability.budget, tags=config.tags, topic=topic)

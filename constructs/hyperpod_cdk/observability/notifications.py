"""The topic that gets what happens to the cluster, and who reads it."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from hyperpod_cdk.observability.notifier import Notifier
from hyperpod_cdk.observability.section import NotificationsConfig, SlackConfig
from hyperpod_cdk.synthesis.logs import OWNED_BY_AWS, LogGroups


def topic_name(stack_name: str) -> str:
    """Return the name of a stack's topic, by which others know it without an export of it."""
    # It begins as CloudFormation's own name of it, for which policies of deployers are written.
    return f"{stack_name}-NotificationsTopic"


# https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-AMPpermission.html
_FURTHER_ACTIONS = {"aps": ("sns:GetTopicAttributes",)}


def let_publish(
    topic: sns.ITopic,
    *,
    service: str,
    key: kms.IKey | None,
    sids: tuple[str, str],
    source_arn: str | None = None,
    further_actions: Sequence[str] = (),
) -> iam.AddToResourcePolicyResult:
    """Let a service publish to a topic and use its key, for resources of this account alone.

    The sids are those of the topic's statement and the key's. Default: for any of its resources.
    """
    sender = iam.ServicePrincipal(f"{service}.amazonaws.com")
    account = {"StringEquals": {"aws:SourceAccount": Stack.of(topic).account}}
    of_topic, of_key = sids
    if key is not None:
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=of_key,
                principals=[sender],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],  # the key whose policy it is
                conditions=account,
            )
        )
    source = {} if source_arn is None else {"ArnLike": {"aws:SourceArn": source_arn}}
    return topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid=of_topic,
            principals=[sender],
            actions=["sns:Publish", *further_actions],
            resources=[topic.topic_arn],
            conditions={**account, **source},
        )
    )


class Notifications(Construct):
    """An SNS topic with its subscriptions, and the function that tells it of the cluster.

    Args:
        notifications: Who is told.
        cluster_name: The HyperPod cluster, which need not exist yet.
        training_plan_arns: Names or ARNs of the plans that it draws on. Default: none.
        node_groups: The EKS node groups, each with its EKS cluster. Default:
            none.
        on_slurm: Whether Slurm orchestrates the cluster. Default: EKS.
        log_groups: How the log group of the function is made. Default: encrypted by AWS.

    Attributes:
        topic: The topic.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        notifications: NotificationsConfig,
        cluster_name: str,
        training_plan_arns: Sequence[str] = (),
        node_groups: Sequence[tuple[str, str]] = (),
        on_slurm: bool = False,
        log_groups: LogGroups = OWNED_BY_AWS,
    ) -> None:
        super().__init__(scope, construct_id)
        self.topic: sns.ITopic
        self._key: kms.Key | None = None
        if notifications.topic_arn is not None:
            self.topic = sns.Topic.from_topic_arn(self, "Topic", notifications.topic_arn)
        else:
            # CloudWatch cannot publish to a topic that the key of AWS encrypts.
            # https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
            self._key = kms.Key(
                self,
                "Key",
                description="Messages about the cluster",
                enable_key_rotation=True,
                removal_policy=RemovalPolicy.DESTROY,
            )
            self.topic = sns.Topic(
                self,
                "Topic",
                topic_name=topic_name(Stack.of(self).stack_name),
                master_key=self._key,
                enforce_ssl=True,
            )
        self.let_publish("cloudwatch")
        for email in notifications.emails:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))
        if notifications.slack is not None:
            self._post_in(notifications.slack)
        Notifier(
            self,
            "Notifier",
            topic=self.topic,
            topic_key=self._key,
            cluster_name=cluster_name,
            training_plan_arns=training_plan_arns,
            patience_minutes=notifications.patience_minutes,
            node_groups=node_groups,
            on_slurm=on_slurm,
            log_groups=log_groups,
        )

    def let_publish(self, service: str) -> None:
        """Let a service of AWS publish to the topic, of this account's resources alone.

        A topic that is not the deployment's keeps its policy.

        Args:
            service: As in `cloudwatch.amazonaws.com`.
        """
        if self._key is not None:
            name = service.title()
            sids = (f"Publish{name}", f"Encrypt{name}")
            let_publish(
                self.topic,
                service=service,
                key=self._key,
                sids=sids,
                further_actions=_FURTHER_ACTIONS.get(service, ()),
            )

    def _post_in(self, slack: SlackConfig) -> None:
        # Without a name of its own, two deployments could not both have one.
        name = f"{Stack.of(self).stack_name}-notifications"
        chatbot.SlackChannelConfiguration(
            self,
            "Slack",
            slack_channel_configuration_name=name,
            slack_workspace_id=slack.workspace_id,
            slack_channel_id=slack.channel_id,
            notification_topics=[self.topic],
            # The role has no rights; without this, the channel's limit is AdministratorAccess.
            # https://docs.aws.amazon.com/chatbot/latest/adminguide/understanding-permissions.html
            guardrail_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AWSDenyAll")],
            logging_level=chatbot.LoggingLevel.ERROR,
        )

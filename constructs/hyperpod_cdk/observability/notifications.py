"""The topic that gets what happens to the cluster, and who reads it."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from hyperpod_cdk.observability.notifications_section import NotificationsConfig


class Notifications(Construct):
    """An encrypted SNS topic, with its subscriptions.

    Args:
        notifications: Who is told.

    Attributes:
        topic: The topic.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, notifications: NotificationsConfig
    ) -> None:
        super().__init__(scope, construct_id)
        # CloudWatch cannot publish to a topic that the key of AWS encrypts.
        # https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
        key = kms.Key(
            self,
            "Key",
            description="Messages about the cluster",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        for email in notifications.emails:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))

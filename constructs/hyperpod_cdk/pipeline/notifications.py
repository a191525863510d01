"""Who is told that a pipeline failed, or waits for somebody."""

from collections.abc import Sequence

from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

# https://docs.aws.amazon.com/dtconsole/latest/userguide/notification-target-troubleshooting.html
_SENDER = "codestar-notifications.amazonaws.com"


class PipelineNotifications(Construct):
    """A topic that gets failures of a pipeline's executions and approvals that are waited for.

    Args:
        pipeline: The pipeline.
        key: Encrypts the messages.
        emails: Who gets an e-mail of each.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pipeline: codepipeline.Pipeline,
        key: kms.Key,
        emails: Sequence[str],
    ) -> None:
        super().__init__(scope, construct_id)
        topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        key.grant(iam.ServicePrincipal(_SENDER), "kms:Decrypt", "kms:GenerateDataKey*")
        for email in emails:
            topic.add_subscription(subscriptions.EmailSubscription(email))
        pipeline.notify_on(
            "Rule",
            topic,
            events=[
                codepipeline.PipelineNotificationEvents.PIPELINE_EXECUTION_FAILED,
                codepipeline.PipelineNotificationEvents.MANUAL_APPROVAL_NEEDED,
            ],
        )

"""What a pipeline sends of its executions, and to whom."""

from collections.abc import Sequence

from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from hyperpod_cdk.synthesis.trust import SOURCE_ACCOUNT_IF_SENT

# https://docs.aws.amazon.com/dtconsole/latest/userguide/notification-target-troubleshooting.html
_SENDER = "codestar-notifications.amazonaws.com"


class PipelineNotifications(Construct):
    """A topic that gets failures of a pipeline's executions and approvals that are waited for."""

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
        topic = sns.Topic(self, "Topic", enforce_ssl=True)
        resource = topic.node.default_child
        assert isinstance(resource, sns.CfnTopic)  # noqa: S101 - what the L2 makes
        # Set here because the L2 would let the service use the key for any account.
        resource.kms_master_key_id = key.key_arn
        sender = iam.ServicePrincipal(_SENDER, conditions=SOURCE_ACCOUNT_IF_SENT)
        key.grant(sender, "kms:Decrypt", "kms:GenerateDataKey*")
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
        # The statement of the topic's policy that the rule has added, after the one about TLS.
        policy = topic.node.find_child("Policy").node.default_child
        assert isinstance(policy, sns.CfnTopicPolicy)  # noqa: S101 - what the L2 makes
        policy.add_property_override("PolicyDocument.Statement.1.Condition", SOURCE_ACCOUNT_IF_SENT)

"""The pipeline: its source, its notifications, and why findings on it are accepted."""

from collections.abc import Iterator, Sequence

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_codecommit as codecommit
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_codepipeline_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import pipelines
from constructs import Construct

from hyperpod_cdk.pipeline.build import (
    ArtifactBucket,
    approval_step,
    harden_artifacts,
    publish_with_cli,
    review_step,
    synth_step,
)
from hyperpod_cdk.pipeline.section import PipelineConfig, S3SourceConfig, SourceConfig
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    acknowledge_log_groups,
    skip_checkov,
    wildcard_nag_id,
)
from hyperpod_cdk.synthesis.trust import SOURCE_ACCOUNT_IF_SENT, limit_trust

_ARTIFACT_ACTIONS = (
    "kms:GenerateDataKey*",
    "kms:ReEncrypt*",
    "s3:Abort*",
    "s3:DeleteObject*",
    "s3:GetBucket*",
    "s3:GetObject*",
    "s3:List*",
)
_ARTIFACTS = (
    "CDK grants its actions on artifacts in groups; they reach the pipeline's buckets and keys "
    "alone, where CodePipeline chooses the names of objects."
)
_OWN_LOGS = "A build writes logs and reports under the name of its own project, numbered by run."
_ASSET_LOGS = (
    "CDK makes one role for all builds that upload files, before the names of their projects are "
    "known; it may write logs and reports of builds."
)
_KEYS = (
    "CDK knows the key of another region by its alias, which IAM takes for no resource: the "
    "pipeline may use each key of the account whose own policy leaves that to IAM."
)
_STACKS = (
    "The update of the pipeline looks up stacks and lists buckets; it changes neither with this."
)
_BUILDS = (
    "CDK lets builds that upload files start builds of this account, for projects that it does "
    "not know yet; these run the fixed commands of their projects."
)
_BOOTSTRAP_ROLES = (
    "A condition limits it to the roles that `cdk bootstrap` made in the pipeline's account to "
    "deploy and to publish."
)


def acknowledge_delivery(
    delivery: pipelines.CodePipeline, *, buckets: Sequence[s3.IBucket]
) -> None:
    """Record the reasons."""
    acknowledge_inline_policies(delivery)
    acknowledge(delivery, dict(_reasons(delivery, buckets=buckets)))
    everything = wildcard_nag_id(delivery, "*")
    scopes = {
        _KEYS: delivery.pipeline.role,
        _STACKS: delivery.node.find_child("UpdatePipeline"),
        _BUILDS: delivery.node.try_find_child("Assets"),
    }
    for reason, scope in scopes.items():
        if scope is not None:
            acknowledge(scope, {everything: reason})
            skip_checkov(scope, resource_type="AWS::IAM::Policy", reasons={"CKV_AWS_111": reason})
    for construct in delivery.node.find_all():
        if isinstance(construct, codepipeline.CfnPipeline):
            # It says of the ARN of a role that Fn::Sub would read better.
            construct.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3703"]}})


def _reasons(
    delivery: pipelines.CodePipeline, *, buckets: Sequence[s3.IBucket]
) -> Iterator[tuple[str, str]]:
    stack = cdk.Stack.of(delivery)
    for action in _ARTIFACT_ACTIONS:
        yield f"AwsSolutions-IAM5[Action::{action}]", _ARTIFACTS
    for bucket in buckets:
        yield wildcard_nag_id(delivery, bucket.arn_for_objects("*")), _ARTIFACTS
    names = [
        construct.ref
        for construct in delivery.node.find_all()
        if isinstance(construct, codebuild.CfnProject)
    ]
    for name in names:
        for arn in _of_builds(stack, logs=f"{name}:*", reports=f"{name}-*"):
            yield wildcard_nag_id(delivery, arn), _OWN_LOGS
    for arn in _of_builds(stack, logs="*", reports="*"):
        yield wildcard_nag_id(delivery, arn), _ASSET_LOGS
    yield wildcard_nag_id(delivery, f"arn:*:iam::{stack.account}:role/*"), _BOOTSTRAP_ROLES


def _of_builds(stack: cdk.Stack, *, logs: str, reports: str) -> Iterator[str]:
    place = f"{stack.region}:{stack.account}"
    yield f"arn:{stack.partition}:logs:{place}:log-group:/aws/codebuild/{logs}"
    yield f"arn:{stack.partition}:codebuild:{place}:report-group/{reports}"


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


def source_of(scope: Construct, source: SourceConfig) -> pipelines.CodePipelineSource:
    """Return the source action; git repositories are cloned with their history."""
    if source.connection is not None:
        return pipelines.CodePipelineSource.connection(
            source.connection.repository,
            source.connection.branch,
            connection_arn=source.connection.arn,
            code_build_clone_output=True,
            action_name="Source",
        )
    if source.code_commit is not None:
        return pipelines.CodePipelineSource.code_commit(
            codecommit.Repository.from_repository_name(
                scope, "Repository", source.code_commit.repository
            ),
            source.code_commit.branch,
            code_build_clone_output=True,
            action_name="Source",
        )
    assert source.s3 is not None  # noqa: S101 - the section has one of the three
    return pipelines.CodePipelineSource.s3(
        s3.Bucket.from_bucket_name(scope, "SourceBucket", source.s3.bucket),
        source.s3.key,
        # CDK's own event would need a trail of CloudTrail, and polling ends after 30 idle days.
        trigger=actions.S3Trigger.NONE,
        action_name="Source",
    )


def start_on_upload(
    scope: Construct, *, source: S3SourceConfig, pipeline: codepipeline.IPipeline
) -> None:
    """Start a pipeline on each new version of its source in S3."""
    events.Rule(
        scope,
        "SourceUploaded",
        event_pattern=events.EventPattern(
            source=["aws.s3"],
            detail_type=["Object Created"],
            detail={"bucket": {"name": [source.bucket]}, "object": {"key": [source.key]}},
        ),
        targets=[targets.CodePipeline(pipeline)],
    )


class DeploymentPipeline(Construct):
    """A CodePipeline that checks a repository, updates itself, and deploys environments in order.

    Before each environment, a review compares it with what is deployed.

    Args:
        pipeline: Where the repository is, and who is told what.
        config_path: The pipeline's configuration file, from the root of the repository.
        stages: The stacks of each environment, in the order of the section.
        cli_version: Version of the CDK CLI that it installs from npm.

    Attributes:
        pipeline: The pipeline.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pipeline: PipelineConfig,
        config_path: str,
        stages: Sequence[cdk.Stage],
        cli_version: str,
    ) -> None:
        super().__init__(scope, construct_id)
        artifacts = ArtifactBucket(self, "Artifacts")
        log_group = logs.LogGroup(self, "BuildLogs", retention=logs.RetentionDays.THREE_MONTHS)
        source = source_of(self, pipeline.source)
        synth = synth_step(
            source=source, kind=pipeline.source, config_path=config_path, chart=pipeline.chart
        )
        delivery = pipelines.CodePipeline(
            self,
            "Delivery",
            synth=synth,
            pipeline_name=pipeline.name,
            pipeline_type=codepipeline.PipelineType.V2,
            # One execution at a time in a stage; none is passed over, as a fix may follow a change.
            execution_mode=codepipeline.ExecutionMode.QUEUED,
            artifact_bucket=artifacts.bucket,
            cross_account_keys=True,
            enable_key_rotation=True,
            publish_assets_in_parallel=False,
            cli_version=cli_version,
            code_build_defaults=pipelines.CodeBuildOptions(
                build_environment=codebuild.BuildEnvironment(
                    build_image=codebuild.LinuxBuildImage.STANDARD_7_0
                ),
                logging=codebuild.LoggingOptions(
                    cloud_watch=codebuild.CloudWatchLoggingOptions(log_group=log_group)
                ),
            ),
        )
        for environment, stage in zip(pipeline.environments, stages, strict=True):
            review = review_step(
                source=source,
                assembly=synth,
                config_path=config_path,
                stage=stage,
            )
            approvals = [approval_step(environment.name, review=review)]
            delivery.add_stage(stage, pre=[review, *(approvals if environment.approval else [])])
        delivery.build_pipeline()
        publish_with_cli(delivery, stages=stages, cli_version=cli_version)
        self.pipeline = delivery.pipeline
        limit_trust(self.pipeline.role, SOURCE_ACCOUNT_IF_SENT)
        others = [
            support.replication_bucket for support in self.pipeline.cross_region_support.values()
        ]
        for bucket in others:
            harden_artifacts(bucket)
        acknowledge_delivery(delivery, buckets=[artifacts.bucket, *others])
        acknowledge_log_groups(self)
        if pipeline.source.s3 is not None:
            start_on_upload(self, source=pipeline.source.s3, pipeline=self.pipeline)
        PipelineNotifications(
            self,
            "Notifications",
            pipeline=self.pipeline,
            key=artifacts.key,
            emails=pipeline.notification_emails,
        )

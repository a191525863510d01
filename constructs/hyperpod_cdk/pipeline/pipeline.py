"""The pipeline that deploys environments one after the other."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_logs as logs
from aws_cdk import pipelines
from constructs import Construct

from hyperpod_cdk.pipeline.acknowledgments import acknowledge_delivery
from hyperpod_cdk.pipeline.artifacts import ArtifactBucket, harden_artifacts
from hyperpod_cdk.pipeline.build import (
    approval_step,
    publish_with_cli,
    review_step,
    synth_step,
)
from hyperpod_cdk.pipeline.notifications import PipelineNotifications
from hyperpod_cdk.pipeline.section import PipelineConfig
from hyperpod_cdk.pipeline.source import source_of, start_on_upload
from hyperpod_cdk.synthesis.acknowledge import acknowledge_log_groups


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

"""Where a pipeline gets the repository, and what starts it."""

from aws_cdk import aws_codecommit as codecommit
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_codepipeline_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_s3 as s3
from aws_cdk import pipelines
from constructs import Construct

from hyperpod_cdk.pipeline.section import S3SourceConfig, SourceConfig


def source_of(scope: Construct, source: SourceConfig) -> pipelines.CodePipelineSource:
    """Return the source action; git repositories are cloned with their history.

    Args:
        scope: The pipeline.
        source: Where the repository is.
    """
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
    """Start a pipeline on each new version of its source in S3.

    Args:
        scope: The pipeline's construct.
        source: The object.
        pipeline: The pipeline.
    """
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

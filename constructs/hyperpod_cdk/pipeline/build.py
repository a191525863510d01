"""What a pipeline builds, and where it keeps the results."""

import shlex
from collections.abc import Callable, Sequence
from itertools import chain
from typing import cast

import aws_cdk as cdk
from aws_cdk import Duration, RemovalPolicy, pipelines
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.pipeline.section import ChartArchiveConfig, SourceConfig
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge, skip_checkov

# Kept, because a rollback of a stage uses the artifacts of an earlier execution.
_KEPT_DAYS = 90
_UNLOGGED = (
    "Only the pipeline's roles may read it, and the pipeline's history lists each execution that "
    "did; access logs would need a bucket more in each region."
)


class ArtifactBucket(Construct):
    """An encrypted bucket whose objects expire after 90 days, and its key, which is rotated.

    Attributes:
        bucket: The bucket.
        key: Its key, which also encrypts what is told of executions.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description="Artifacts and notifications of the pipeline",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
            pending_window=Duration.days(7),
        )
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=True,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=RemovalPolicy.RETAIN,
        )
        harden_artifacts(self.bucket)


def harden_artifacts(bucket: s3.IBucket) -> None:
    """Let artifacts expire, keep versions, and record why they are neither logged nor copied.

    Args:
        bucket: The bucket, or one that CDK made for actions in another region.
    """
    # L1: what CDK makes for another region is behind an interface.
    resource = cast("s3.CfnBucket", bucket.node.default_child)
    resource.versioning_configuration = s3.CfnBucket.VersioningConfigurationProperty(
        status="Enabled"
    )
    resource.lifecycle_configuration = s3.CfnBucket.LifecycleConfigurationProperty(
        rules=[
            s3.CfnBucket.RuleProperty(
                status="Enabled",
                expiration_in_days=_KEPT_DAYS,
                noncurrent_version_expiration=s3.CfnBucket.NoncurrentVersionExpirationProperty(
                    noncurrent_days=1
                ),
                abort_incomplete_multipart_upload=(
                    s3.CfnBucket.AbortIncompleteMultipartUploadProperty(days_after_initiation=1)
                ),
            )
        ]
    )
    acknowledge(
        bucket,
        {
            "AwsSolutions-S1": _UNLOGGED,
            f"{NIST}S3BucketLoggingEnabled": _UNLOGGED,
            f"{NIST}S3BucketReplicationEnabled": (
                "Each execution writes its artifacts again, and they expire; a copy would only "
                "cost."
            ),
        },
    )
    skip_checkov(bucket, resource_type="AWS::S3::Bucket", reasons={"CKV_AWS_18": _UNLOGGED})


_PYTHON = codebuild.BuildSpec.from_object(
    {"phases": {"install": {"runtime-versions": {"python": "3.13"}}}}
)
_SYNTHESIZED = "cdk.out/assembly"
# Next to the repository, whose own folder of templates is empty in a review.
_TO_REVIEW = "build/assembly"
_REVIEW = "build/review"


def synth_step(
    *,
    source: pipelines.CodePipelineSource,
    kind: SourceConfig,
    config_path: str,
    chart: ChartArchiveConfig | None,
) -> pipelines.CodeBuildStep:
    """Return the step that checks the repository as every change is, and synthesizes.

    It has no rights on the accounts of the environments: it runs what was pushed.

    Args:
        source: The repository.
        kind: Where it is.
        config_path: The pipeline's configuration file, from the root of the repository.
        chart: Chart that is read from S3, if it is not packaged in the build.
    """
    # CodePipeline unpacks an archive from S3 without its history, and the checks list files by git.
    history = ["git init --quiet", "git add --all"] if kind.s3 is not None else []
    path = shlex.quote(config_path)
    package = f".venv/bin/hyperpod-cdk charts --if-needed-by {path}"
    synthesize = f".venv/bin/hyperpod-cdk synth --config {path} --output {_SYNTHESIZED}"
    return pipelines.CodeBuildStep(
        "Synth",
        input=source,
        commands=[*history, ".ci/run", "make setup", package, synthesize],
        primary_output_directory=_SYNTHESIZED,
        partial_build_spec=_PYTHON,
        # The tests keep four cores busy, and take six gigabytes with the local AWS.
        build_environment=codebuild.BuildEnvironment(compute_type=codebuild.ComputeType.MEDIUM),
        timeout=cdk.Duration.minutes(60),
        role_policy_statements=[] if chart is None else [_read(chart)],
    )


def review_step(
    *,
    source: pipelines.CodePipelineSource,
    assembly: pipelines.CodeBuildStep,
    config_path: str,
    stage: cdk.Stage,
) -> pipelines.CodeBuildStep:
    """Return the step that compares an environment with what is deployed, and changes nothing.

    It fails when a value changes that cannot change (ADR 55).

    Args:
        source: The repository, which has the program.
        assembly: What wrote the templates.
        config_path: The pipeline's configuration file, from the root of the repository.
        stage: The stacks of the environment, whose name it has.
    """
    environment = stage.stage_name
    arguments = f"--config {shlex.quote(config_path)} --environment {environment}"
    return pipelines.CodeBuildStep(
        f"Review-{environment}",
        input=source,
        additional_inputs={_TO_REVIEW: assembly},
        commands=[
            "make setup",
            f".venv/bin/hyperpod-cdk review {arguments} {_TO_REVIEW} {_REVIEW}",
            f". {_REVIEW}/variables",
        ],
        primary_output_directory=_REVIEW,
        partial_build_spec=_PYTHON,
        timeout=cdk.Duration.minutes(30),
        role_policy_statements=[
            _assume("ReadEnvironment", _of_stacks(stage, lambda each: each.lookup_role))
        ],
    )


def approval_step(
    environment: str, *, review: pipelines.CodeBuildStep
) -> pipelines.ManualApprovalStep:
    """Return the step in which a person reads a review, and approves or rejects.

    Args:
        environment: Name of the environment.
        review: The step that compares it with what is deployed.
    """
    # CDK looks for variables in the comment alone, so the address is there too.
    address = review.exported_variable("REVIEW_URL")
    return pipelines.ManualApprovalStep(
        f"Approve-{environment}",
        comment=f"{review.exported_variable('REVIEW')} {address}",
        review_url=address,
    )


def publish_with_cli(
    delivery: pipelines.CodePipeline, *, stages: Sequence[cdk.Stage], cli_version: str
) -> None:
    """Upload the files of all environments by the CDK CLI, in place of `cdk-assets`.

    The newest `cdk-assets` on npm refuses what this version of CDK writes (ADR 55).
    """
    stacks = " ".join(f"'{stage.stage_name}/*'" for stage in stages)
    publish = f"cdk --app . publish-assets {stacks} --unstable publish-assets --no-notices"
    spec = codebuild.BuildSpec.from_object(
        {
            "version": "0.2",
            "phases": {
                "install": {"commands": [f"npm install -g aws-cdk@{cli_version}"]},
                "build": {"commands": [publish]},
            },
        }
    )
    builds = delivery.node.try_find_child("Assets")
    for construct in [] if builds is None else builds.node.find_all():
        if isinstance(construct, codebuild.CfnProject):
            construct.add_property_override("Source.BuildSpec", spec.to_build_spec())
        elif isinstance(construct, iam.Role):
            roles = [_of_stacks(stage, lambda each: each.deploy_role_arn) for stage in stages]
            # The CLI asks for the version of the bootstrap stack with it.
            construct.add_to_policy(_assume("FindBootstrap", sorted({*chain(*roles)})))


def _of_stacks(
    stage: cdk.Stage, role: Callable[[cdk.DefaultStackSynthesizer], str | None]
) -> list[str]:
    """Return a role of `cdk bootstrap` for each stack of a stage, as CDK writes its ARN."""
    stacks = (child for child in stage.node.children if isinstance(child, cdk.Stack))
    found = (role(cast("cdk.DefaultStackSynthesizer", stack.synthesizer)) for stack in stacks)
    return sorted({arn for arn in found if arn is not None})


def _assume(sid: str, roles: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, actions=["sts:AssumeRole"], resources=[cdk.Fn.sub(arn) for arn in roles]
    )


def _read(chart: ChartArchiveConfig) -> iam.PolicyStatement:
    archive = f"arn:{cdk.Aws.PARTITION}:s3:::{chart.bucket}/{chart.key}"
    return iam.PolicyStatement(sid="ReadChart", actions=["s3:GetObject"], resources=[archive])

"""What a pipeline builds, and where it keeps the results."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import aws_cdk as cdk
from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.pipeline.environment import EnvironmentAssembly
from hyperpod_cdk.pipeline.section import ChartArchiveConfig, EnvironmentConfig, SourceConfig
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge, skip_checkov

# Kept, because a rollback of a stage uses the artifacts of an earlier execution.
_KEPT_DAYS = 90
_UNLOGGED = (
    "Only the pipeline's roles may read it, and the pipeline's history lists each execution that "
    "did; access logs would need a bucket more in each region."
)


class ArtifactBucket(Construct):
    """An encrypted bucket whose objects expire after 90 days, and its key, which is rotated.

    The key also encrypts what is told of executions.
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

    The bucket may be one that CDK made for actions in another region.
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


_PROGRAM = Path(__file__).with_name("build_program.py")
ASSEMBLY = "Assembly"
"""Artifact with what was synthesized."""
DIGEST = "ASSEMBLY_SHA256"
"""Variable with the digest of that; builds after the first refuse another assembly."""
COMMIT = "COMMIT"
"""Variable with the commit, if the source has commits."""
_SYNTHESIZED = "cdk.out/assembly"
_REVIEW = "build/review"
_CLONED = (
    f'[ "$(git rev-parse HEAD)" = "${COMMIT}" ] '
    f'|| (echo "The clone is not ${COMMIT}: the artifact bucket was changed" && exit 1)'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Builds:
    """What the builds of a pipeline run.

    The path of the configuration is from the root of the repository. A chart is read from S3; None
    to package it in the build.
    """

    scope: Construct
    source: SourceConfig
    config_path: str
    chart: ChartArchiveConfig | None
    log_group: logs.ILogGroup

    def synth(self) -> codebuild.PipelineProject:
        """Return the build that checks the repository as every change is, and synthesizes.

        It has no rights on the accounts of the environments: it runs what was pushed.
        """
        # CodePipeline unpacks an archive from S3 without its history, and the checks list files by
        # git.
        history = ["git init --quiet", "git add --all"] if self.source.s3 is not None else []
        path = shlex.quote(self.config_path)
        return self._project(
            "Synth",
            commands=[
                *history,
                ".ci/run",
                "make setup",
                f".venv/bin/hyperpod-cdk charts --if-needed-by {path}",
                f".venv/bin/hyperpod-cdk synth {path} --output {_SYNTHESIZED}",
                f"export {DIGEST}=$({_program('digest', _SYNTHESIZED)})",
            ],
            exported=[DIGEST],
            output=_SYNTHESIZED,
            # The tests keep four cores busy, and take six gigabytes with the local AWS.
            compute_type=codebuild.ComputeType.MEDIUM,
            minutes=60,
            statement=None if self.chart is None else _read(self.chart),
        )

    def check(self) -> codebuild.PipelineProject:
        """Return the build that stops what would change the pipeline itself (ADR 75)."""
        stack = cdk.Stack.of(self.scope)
        command = f"hyperpod-cdk pipeline {shlex.quote(self.config_path)}"
        return self._project(
            "CheckPipeline",
            commands=[_program("compare", stack.template_file, stack.stack_name, command)],
            statement=iam.PolicyStatement(
                sid="ReadPipeline",
                actions=["cloudformation:GetTemplate"],
                resources=[stack.stack_id],
            ),
        )

    def review(
        self, environment: EnvironmentConfig, assembly: EnvironmentAssembly
    ) -> codebuild.PipelineProject:
        """Return the build that compares an environment with what is deployed, changing nothing.

        It fails when a value changes that cannot change (ADR 55).
        """
        rehearses = environment.rehearse_change
        arguments = f"{shlex.quote(self.config_path)} --environment {environment.name}"
        arguments += " --rehearse-change" if rehearses else ""
        folder = f'"$CODEBUILD_SRC_DIR_{ASSEMBLY}"'
        return self._project(
            f"Review-{environment.name}",
            commands=[
                _verify(folder),
                *([] if self.source.s3 is not None else [_CLONED]),
                "make setup-rehearsal" if rehearses else "make setup",
                f".venv/bin/hyperpod-cdk review {arguments} {folder} {_REVIEW}",
                f". {_REVIEW}/variables",
            ],
            exported=["REVIEW", "REVIEW_URL"],
            output=_REVIEW,
            statement=_assume("ReadEnvironment", assembly.lookup_roles),
        )

    def publish(
        self, environment: EnvironmentConfig, assembly: EnvironmentAssembly
    ) -> codebuild.PipelineProject:
        """Return the build that uploads an environment's files, once it is approved.

        It runs nothing that was pushed. Its artifact is the assembly, which no other build may
        write.
        """
        return self._project(
            f"Publish-{environment.name}",
            commands=[_verify("."), _program("publish", assembly.folder)],
            output=".",
            statement=_assume("PublishFiles", assembly.publishing_roles),
        )

    def _project(
        self,
        name: str,
        *,
        commands: Sequence[str],
        exported: Sequence[str] = (),
        output: str = "",
        compute_type: codebuild.ComputeType = codebuild.ComputeType.SMALL,
        minutes: int = 30,
        statement: iam.PolicyStatement | None,
    ) -> codebuild.PipelineProject:
        artifacts = {"artifacts": {"base-directory": output, "files": ["**/*"]}}
        spec = {
            "version": "0.2",
            **({"env": {"exported-variables": list(exported)}} if exported else {}),
            "phases": {
                "install": {"runtime-versions": {"python": "3.13"}},
                "build": {"commands": list(commands)},
            },
            **(artifacts if output else {}),
        }
        project = codebuild.PipelineProject(
            self.scope,
            name,
            build_spec=codebuild.BuildSpec.from_object(spec),
            environment=codebuild.BuildEnvironment(
                build_image=codebuild.LinuxBuildImage.STANDARD_7_0, compute_type=compute_type
            ),
            logging=codebuild.LoggingOptions(
                cloud_watch=codebuild.CloudWatchLoggingOptions(log_group=self.log_group)
            ),
            timeout=Duration.minutes(minutes),
        )
        if statement is not None:
            project.add_to_role_policy(statement)
        return project


def deny_artifacts_of_others(
    project: codebuild.PipelineProject,
    *,
    bucket: s3.IBucket,
    own: Sequence[str],
    artifacts: Sequence[str],
) -> None:
    """Keep a build from the artifacts that are not its own: CDK lets it write the whole bucket."""
    # CodePipeline names folders by the first ten characters; where it does not, the digest of the
    # assembly and the commit still differ.
    # https://repost.aws/questions/QUI91tw7A9SUOMohJurNqmgA
    others = {name[:10] for name in artifacts} - {name[:10] for name in own}
    project.add_to_role_policy(
        iam.PolicyStatement(
            sid="KeepOtherArtifacts",
            effect=iam.Effect.DENY,
            actions=["s3:DeleteObject*", "s3:PutObject*"],
            resources=[bucket.arn_for_objects(f"*/{name}*/*") for name in sorted(others)],
        )
    )


def _program(*words: str) -> str:
    """Return the command that runs the builds' own program.

    -I: without it, Python imports modules from the working directory, which is what was pushed.
    """
    return shlex.join(["python3", "-I", "-c", _PROGRAM.read_text("utf-8"), *words])


def _verify(folder: str) -> str:
    return f'{_program("verify")} {folder} "${DIGEST}"'


def _assume(sid: str, roles: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=sid, actions=["sts:AssumeRole"], resources=list(roles))


def _read(chart: ChartArchiveConfig) -> iam.PolicyStatement:
    archive = f"arn:{cdk.Aws.PARTITION}:s3:::{chart.bucket}/{chart.key}"
    return iam.PolicyStatement(sid="ReadChart", actions=["s3:GetObject"], resources=[archive])

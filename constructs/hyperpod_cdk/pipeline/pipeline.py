"""The pipeline: its source, its stages, and why findings on it are accepted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_codecommit as codecommit
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_codepipeline_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.pipeline.build import (
    ASSEMBLY,
    COMMIT,
    DIGEST,
    ArtifactBucket,
    Builds,
    deny_artifacts_of_others,
    harden_artifacts,
)
from hyperpod_cdk.pipeline.environment import EnvironmentAssembly
from hyperpod_cdk.pipeline.notifications import PipelineNotifications
from hyperpod_cdk.pipeline.section import (
    EnvironmentConfig,
    PipelineConfig,
    S3SourceConfig,
    SourceConfig,
    unapproved_accounts,
)
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    acknowledge_log_groups,
    skip_checkov,
    wildcard_nag_id,
)
from hyperpod_cdk.synthesis.refusals import report
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
_KEYS = (
    "CDK knows the key of another region by its alias, which IAM takes for no resource: the "
    "pipeline may use each key of the account whose own policy leaves that to IAM."
)


def acknowledge_delivery(pipeline: codepipeline.Pipeline, *, buckets: Sequence[s3.IBucket]) -> None:
    """Record the reasons for a pipeline and the builds in its scope."""
    delivery = pipeline.node.scope
    assert isinstance(delivery, Construct)  # noqa: S101 - a pipeline is no root
    acknowledge_inline_policies(delivery)
    acknowledge(delivery, dict(_reasons(delivery, buckets=buckets)))
    acknowledge(pipeline.role, {wildcard_nag_id(delivery, "*"): _KEYS})
    skip_checkov(pipeline.role, resource_type="AWS::IAM::Policy", reasons={"CKV_AWS_111": _KEYS})
    for construct in delivery.node.find_all():
        if isinstance(construct, codepipeline.CfnPipeline):
            # It says of the ARN of a role that Fn::Sub would read better.
            construct.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3703"]}})


def _reasons(delivery: Construct, *, buckets: Sequence[s3.IBucket]) -> Iterator[tuple[str, str]]:
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


def _of_builds(stack: cdk.Stack, *, logs: str, reports: str) -> Iterator[str]:
    place = f"{stack.region}:{stack.account}"
    yield f"arn:{stack.partition}:logs:{place}:log-group:/aws/codebuild/{logs}"
    yield f"arn:{stack.partition}:codebuild:{place}:report-group/{reports}"


def source_action(
    scope: Construct, source: SourceConfig, *, output: codepipeline.Artifact
) -> tuple[codepipeline.IAction, str]:
    """Return the source action, and what it says of a version; git is cloned with its history."""
    if source.connection is not None:
        owner, _, name = source.connection.repository.partition("/")
        connection = actions.CodeStarConnectionsSourceAction(
            action_name="Source",
            output=output,
            owner=owner,
            repo=name,
            branch=source.connection.branch,
            connection_arn=source.connection.arn,
            code_build_clone_output=True,
            variables_namespace="Source",
        )
        return connection, connection.variables.commit_id
    if source.code_commit is not None:
        code_commit = actions.CodeCommitSourceAction(
            action_name="Source",
            output=output,
            repository=codecommit.Repository.from_repository_name(
                scope, "Repository", source.code_commit.repository
            ),
            branch=source.code_commit.branch,
            code_build_clone_output=True,
            variables_namespace="Source",
        )
        return code_commit, code_commit.variables.commit_id
    assert source.s3 is not None  # noqa: S101 - the section has one of the three
    archive = actions.S3SourceAction(
        action_name="Source",
        output=output,
        bucket=s3.Bucket.from_bucket_name(scope, "SourceBucket", source.s3.bucket),
        bucket_key=source.s3.key,
        # CDK's own event would need a trail of CloudTrail, and polling ends after 30 idle days.
        trigger=actions.S3Trigger.NONE,
        variables_namespace="Source",
    )
    return archive, archive.variables.version_id


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
    """A CodePipeline that checks a repository, and deploys environments in order.

    Before each environment, a review compares it with what is deployed. What reaches an
    environment is what was reviewed, and nothing may write there before it is approved (ADR 75).

    Args:
        pipeline: Where the repository is, and who is told what.
        config_path: The pipeline's configuration file, from the root of the repository.
        stages: The stacks of each environment, in the order of the section.

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
    ) -> None:
        super().__init__(scope, construct_id)
        report(self, unapproved_accounts(pipeline))
        artifacts = ArtifactBucket(self, "Artifacts")
        self._delivery = Construct(self, "Delivery")
        self._config = pipeline
        self._made = Builds(
            scope=self._delivery,
            source=pipeline.source,
            config_path=config_path,
            chart=pipeline.chart,
            log_group=logs.LogGroup(self, "BuildLogs", retention=logs.RetentionDays.THREE_MONTHS),
        )
        self._source = codepipeline.Artifact("Source")
        self._assembly = codepipeline.Artifact(ASSEMBLY)
        self._builds: dict[codebuild.PipelineProject, Sequence[codepipeline.Artifact]] = {}
        self.pipeline = codepipeline.Pipeline(
            self._delivery,
            "Pipeline",
            pipeline_name=pipeline.name,
            pipeline_type=codepipeline.PipelineType.V2,
            # One execution at a time in a stage; none is passed over, as a fix may follow a change.
            execution_mode=codepipeline.ExecutionMode.QUEUED,
            restart_execution_on_update=True,
            # A role for each action would be one that the pipeline's role may assume.
            use_pipeline_role_for_actions=True,
            artifact_bucket=artifacts.bucket,
            cross_account_keys=True,
            enable_key_rotation=True,
        )
        self._add_stages(stages)
        if pipeline.source.connection is not None:
            self._allow_connection(pipeline.source.connection.arn)
        for project, own in self._builds.items():
            deny_artifacts_of_others(
                project,
                bucket=artifacts.bucket,
                own=_names(own),
                artifacts=["Source", *_names(chain(*self._builds.values()))],
            )
        limit_trust(self.pipeline.role, SOURCE_ACCOUNT_IF_SENT)
        others = [
            support.replication_bucket for support in self.pipeline.cross_region_support.values()
        ]
        for bucket in others:
            harden_artifacts(bucket)
        acknowledge_delivery(self.pipeline, buckets=[artifacts.bucket, *others])
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

    def _allow_connection(self, arn: str) -> None:
        """Allow a connection under the service's present prefix; CDK allows it under the former.

        https://github.com/awslabs/landing-zone-accelerator-on-aws/issues/828
        """
        clones = [each for each in self._builds if each.node.id.startswith(("Synth", "Review-"))]
        for role in (self.pipeline.role, *(each.grant_principal for each in clones)):
            role.add_to_principal_policy(
                iam.PolicyStatement(
                    sid="UseConnection",
                    actions=["codeconnections:UseConnection"],
                    resources=[arn],
                )
            )

    def _add_stages(self, stages: Sequence[cdk.Stage]) -> None:
        source, version = source_action(self, self._config.source, output=self._source)
        synth = self._build(self._made.synth(), takes=[self._source], makes=[self._assembly])
        self._known = {DIGEST: synth.variable(DIGEST), COMMIT: version}
        check = self._build(self._made.check(), takes=[self._assembly])
        self.pipeline.add_stage(stage_name="Source", actions=[source])
        self.pipeline.add_stage(stage_name="Build", actions=[synth])
        self.pipeline.add_stage(stage_name="CheckPipeline", actions=[check])
        for number, environment in enumerate(self._config.environments):
            self.pipeline.add_stage(
                stage_name=environment.name,
                actions=list(self._environment(environment, stages[number], number=number)),
            )

    def _environment(
        self, environment: EnvironmentConfig, stage: cdk.Stage, *, number: int
    ) -> Iterator[codepipeline.IAction]:
        """Yield the actions of an environment; none may write there before its approval."""
        name = environment.name
        found = EnvironmentAssembly.of(stage)
        review = self._build(
            self._made.review(environment, found),
            takes=[self._source, self._assembly],
            makes=[codepipeline.Artifact(f"Review{number}_{_artifact(name)}")],
            known=self._known,
        )
        yield review
        if environment.approval:
            address = review.variable("REVIEW_URL")
            yield actions.ManualApprovalAction(
                action_name=f"Approve-{name}",
                run_order=2,
                additional_information=(
                    f"{review.variable('REVIEW')} Revision {self._known[COMMIT]}. {address}"
                ),
                external_entity_link=address,
            )
        # The number is among the ten characters that its folder in the bucket has of the name.
        published = codepipeline.Artifact(f"Publish{number}_{_artifact(name)}")
        yield self._build(
            self._made.publish(environment, found),
            takes=[self._assembly],
            makes=[published],
            known=self._known,
            run_order=3,
        )
        yield from found.deployments(
            Construct(self._delivery, name),
            artifact=published,
            first=4,
            region=self._config.region,
        )

    def _build(
        self,
        project: codebuild.PipelineProject,
        *,
        takes: Sequence[codepipeline.Artifact],
        makes: Sequence[codepipeline.Artifact] = (),
        known: Mapping[str, str] | None = None,
        run_order: int = 1,
    ) -> actions.CodeBuildAction:
        """Return the action that runs a build."""
        self._builds[project] = makes
        first, *others = takes
        return actions.CodeBuildAction(
            action_name=project.node.id,
            project=project,
            input=first,
            extra_inputs=others,
            outputs=list(makes),
            environment_variables={
                name: codebuild.BuildEnvironmentVariable(value=value)
                for name, value in (known or {}).items()
            },
            run_order=run_order,
        )


def _names(artifacts: Iterable[codepipeline.Artifact]) -> list[str]:
    return [str(artifact.artifact_name) for artifact in artifacts]


def _artifact(environment: str) -> str:
    """Return a name in which a build's variable may be named after the artifact."""
    return environment.replace("-", "_")

"""Why the roles that CDK Pipelines makes are as wide as they are."""

from collections.abc import Iterator, Sequence

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_s3 as s3
from aws_cdk import pipelines

from hyperpod_cdk.synthesis.acknowledge import (
    acknowledge,
    acknowledge_inline_policies,
    skip_checkov,
    wildcard_nag_id,
)

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
    """Record the reasons.

    Args:
        delivery: The pipeline, which is built.
        buckets: Its buckets for artifacts, one for each region.
    """
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

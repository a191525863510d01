"""What the synthesis wrote of an environment, and the actions that deploy it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_codepipeline_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import cx_api
from constructs import Construct

_CHANGE_SET = "PipelineChange"


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentAssembly:
    """What the synthesis wrote of an environment.

    The folder is from the root of the cloud assembly; the roles are those of `cdk bootstrap` that
    upload its files and read it, by ARN.
    """

    folder: str
    stacks: tuple[cx_api.CloudFormationStackArtifact, ...]
    publishing_roles: tuple[str, ...]
    lookup_roles: tuple[str, ...]

    @classmethod
    def of(cls, stage: cdk.Stage) -> "EnvironmentAssembly":
        """Synthesize a stage, and add the tags of its stacks as CodePipeline reads them."""
        assembly = stage.synth()
        folder = Path(assembly.directory)
        stacks = tuple(assembly.stacks)
        for stack in stacks:
            configuration = json.dumps({"Tags": dict(stack.tags)})
            folder.joinpath(_configuration(stack)).write_text(configuration, encoding="utf-8")
        files = (
            file
            for manifest in folder.glob("*.assets.json")
            for file in json.loads(manifest.read_text("utf-8"))["files"].values()
        )
        synthesizers = (
            child.synthesizer for child in stage.node.children if isinstance(child, cdk.Stack)
        )
        return cls(
            folder=folder.name,
            stacks=stacks,
            publishing_roles=_arns(
                destination["assumeRoleArn"]
                for file in files
                for destination in file["destinations"].values()
            ),
            lookup_roles=_arns(each.lookup_role for each in synthesizers if each.lookup_role),
        )

    def deployments(
        self, scope: Construct, *, artifact: codepipeline.Artifact, first: int, region: str
    ) -> Iterator[codepipeline.IAction]:
        """Yield the actions that deploy the stacks, each after those that it needs.

        They are numbered from the first; the scope gets the roles of `cdk bootstrap` that they
        have. The region is the pipeline's.
        """
        stacks = {stack.id: stack for stack in self.stacks}

        def depth(stack: cx_api.CloudFormationStackArtifact) -> int:
            needed = (stacks[each.id] for each in stack.dependencies if each.id in stacks)
            return max((depth(each) + 1 for each in needed), default=0)

        for stack in sorted(self.stacks, key=lambda each: each.stack_name):
            place = stack.environment.region
            number = first + 2 * depth(stack)
            roles = Construct(scope, stack.stack_name)
            role = _role(roles, "Deploy", stack.assume_role_arn)
            # CDK gives an action that names the pipeline's own region a bucket of its own there.
            elsewhere = None if place == region else place
            yield actions.CloudFormationCreateReplaceChangeSetAction(
                action_name=f"{stack.stack_name}.Prepare",
                run_order=number,
                stack_name=stack.stack_name,
                change_set_name=_CHANGE_SET,
                template_path=artifact.at_path(f"{self.folder}/{stack.template_file}"),
                template_configuration=artifact.at_path(f"{self.folder}/{_configuration(stack)}"),
                admin_permissions=False,
                cfn_capabilities=[
                    cdk.CfnCapabilities.NAMED_IAM,
                    cdk.CfnCapabilities.AUTO_EXPAND,
                ],
                deployment_role=_role(
                    roles, "CloudFormation", stack.cloud_formation_execution_role_arn
                ),
                role=role,
                region=elsewhere,
            )
            yield actions.CloudFormationExecuteChangeSetAction(
                action_name=f"{stack.stack_name}.Deploy",
                run_order=number + 1,
                stack_name=stack.stack_name,
                change_set_name=_CHANGE_SET,
                role=role,
                region=elsewhere,
            )


def _configuration(stack: cx_api.CloudFormationStackArtifact) -> str:
    return f"{stack.template_file}.config.json"


def _arns(arns: Iterable[str]) -> tuple[str, ...]:
    """Return ARNs with the partition of the pipeline in place of what CDK writes for it."""
    return tuple(arn.replace("${AWS::Partition}", cdk.Aws.PARTITION) for arn in sorted({*arns}))


def _role(scope: Construct, construct_id: str, arn: str | None) -> iam.IRole:
    (found,) = _arns([] if arn is None else [arn])
    # What it may do is the bootstrap's; the pipeline's bucket must let it read.
    return iam.Role.from_role_arn(
        scope, construct_id, found, mutable=False, add_grants_to_resources=True
    )

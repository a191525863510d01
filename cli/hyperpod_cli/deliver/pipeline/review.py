"""The step before each environment: what would change, and whether it may."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import boto3

from hyperpod_cdk import Deployment, Loaded
from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver.can_deploy import refuse_problems
from hyperpod_cli.deliver.pipeline.cdk_diff import cdk_diff
from hyperpod_cli.deliver.pipeline.environment import deployed, reader, stage_stacks
from hyperpod_cli.stack_progress.fixed_values import changes
from hyperpod_cli.terminal.errors import LinesError

# https://docs.aws.amazon.com/general/latest/gr/rande.html
_CONSOLES = {"aws-cn": "console.amazonaws.cn", "aws-us-gov": "console.amazonaws-us-gov.com"}
# What an operator must do before CloudFormation updates a stack of such a status again.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
_STUCK = {
    "ROLLBACK_COMPLETE": "delete-stack",
    "ROLLBACK_FAILED": "delete-stack",
    "UPDATE_ROLLBACK_FAILED": "continue-update-rollback",
}


class RefusedError(LinesError):
    """An environment must not be deployed to; one line for each reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """What a deployment would do to an environment.

    Attributes:
        environment: Its name.
        created: Names of the stacks that are not there yet.
        changed: Names of the stacks whose template changes.
        unprotected: Names of the stacks that lack their termination protection.
        broadens_permissions: Whether somebody would be allowed more than now.
        destroys: Whether resources would be replaced or deleted.
    """

    environment: str
    created: tuple[str, ...]
    changed: tuple[str, ...]
    unprotected: tuple[str, ...]
    broadens_permissions: bool
    destroys: bool

    def __str__(self) -> str:
        """Return it for whoever approves, in less than what an approval shows."""
        does = [
            f"creates {', '.join(self.created)}" if self.created else "",
            f"changes {', '.join(self.changed)}" if self.changed else "",
            "" if self.created or self.changed else "changes nothing",
        ]
        warnings = [
            "PERMISSIONS BROADEN." if self.broadens_permissions else "",
            "RESOURCES ARE REPLACED OR DELETED." if self.destroys else "",
            (
                f"Without termination protection: {', '.join(self.unprotected)}."
                if self.unprotected
                else ""
            ),
        ]
        text = "; ".join(filter(None, does))
        return " ".join(filter(None, [f"{self.environment}: {text}.", *warnings]))


def review(
    loaded: Loaded, *, environment: str, assembly: Path, session: boto3.Session
) -> tuple[Review, str]:
    """Compare an environment with what is deployed; return the judgment and the differences.

    Args:
        loaded: The pipeline, and what it deploys.
        environment: Name of the environment.
        assembly: What the pipeline's synthesis wrote.
        session: The pipeline's credentials.

    Raises:
        AccountError: AWS does not answer.
        ConfigError: A deployment would fail at what the configuration names.
        DiffError: The CDK CLI failed.
        RefusedError: A value would change that cannot change, or a stack cannot be updated.
        UnreadableError: The environment cannot be read.
    """
    deployment = _deployment(loaded, environment)
    config = deployment.config
    partition = regions()[config.region or ""]
    stacks = list(stage_stacks(assembly, environment=environment, partition=partition))
    session = reader(stacks[0], session=session)
    place = Environment(partition=partition, account=stacks[0].account, region=stacks[0].region)
    told = refuse_problems(config, environment=place, session=session, config_path=deployment.path)
    found = {stack.name: deployed(stack, session=session) for stack in stacks}
    refused = [line for stack in stacks for line in refusals(stack, found[stack.name])]
    if refused:
        raise RefusedError("\n".join(refused))
    created = [stack.name for stack in stacks if found[stack.name] is None]
    changed = [
        stack.name
        for stack in stacks
        if (before := found[stack.name]) is not None and before.template != stack.template
    ]
    unprotected = [stack.name for stack in stacks if is_unprotected(stack, found[stack.name])]
    diff = cdk_diff(assembly, environment=environment, created=created, changed=changed)
    judged = Review(
        environment=environment,
        created=tuple(created),
        changed=tuple(changed),
        unprotected=tuple(unprotected),
        broadens_permissions=diff.broadens_permissions,
        destroys=diff.destroys,
    )
    return judged, "\n".join([*(f"WARNING {line}" for line in told), diff.text])


def refusals(stack: Stack, found: Deployed | None) -> Iterator[str]:
    """Yield why CloudFormation must not, or could not, update a stack; one line each."""
    if found is None:
        return
    if found.status in _STUCK:
        yield (
            f"{stack.name}: is in {found.status}, and CloudFormation updates it no more; its "
            f"events say why; then retry this stage after: aws cloudformation "
            f"{_STUCK[found.status]} --stack-name {stack.name} --region {stack.region}"
        )
        return
    for change in changes(stack.template, parameters=found.parameters):
        yield f"{stack.name}: {change}"


def is_unprotected(stack: Stack, found: Deployed | None) -> bool:
    """Tell whether a stack lacks its termination protection, which CodePipeline does not set."""
    return stack.is_protected and found is not None and not found.is_protected


def write_review(judged: Review, *, differences: str, folder: Path) -> None:
    """Write the differences for whoever approves, and the variables that the approval shows.

    Args:
        judged: The judgment.
        differences: What `cdk diff` printed.
        folder: Becomes the step's artifact.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "diff.txt").write_text(f"{judged}\n\n{differences}", encoding="utf-8")
    variables = {"REVIEW": str(judged), "REVIEW_URL": _address()}
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    (folder / "variables").write_text("".join(lines), encoding="utf-8")


def _address() -> str:
    """Return where this build's log, and so the differences, can be read.

    https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html
    """
    _, partition, _, region, account, _, identifier = os.environ["CODEBUILD_BUILD_ARN"].split(":")
    project = os.environ["CODEBUILD_BUILD_ID"].partition(":")[0]
    console = _CONSOLES.get(partition, "console.aws.amazon.com")
    return (
        f"https://{region}.{console}/codesuite/codebuild/{account}/projects/{project}/build/"
        f"{project}%3A{identifier}/?region={region}"
    )


def _deployment(loaded: Loaded, environment: str) -> Deployment:
    environments = () if loaded.pipeline is None else loaded.pipeline.environments
    for found, deployment in zip(environments, loaded.deployments, strict=True):
        if found.name == environment:
            return deployment
    raise RefusedError(f"{environment}: is not an environment of the pipeline")

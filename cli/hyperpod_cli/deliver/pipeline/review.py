"""The step before each environment of a pipeline: what would change, and whether it may."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, Deployment, Loaded
from hyperpod_cdk.eks.effects import ACCESS
from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError
from hyperpod_cli.deliver.can_deploy import refuse_problems
from hyperpod_cli.deliver.diff import changes_in_full
from hyperpod_cli.deliver.pipeline.rehearsed_change import (
    NOTHING_DEPLOYED,
    RehearsedChange,
    rehearse_change,
)
from hyperpod_cli.plan.deployed import wanted_stack
from hyperpod_cli.plan.differences import IncomparableError
from hyperpod_cli.plan.plan import Plan, plan_of
from hyperpod_cli.plan.refusals import foreign_stack, missed_exports
from hyperpod_cli.plan.stack_effects import PERMISSIONS
from hyperpod_cli.stack_progress.fixed_values import changes
from hyperpod_cli.terminal.errors import LinesError, OpsError
from hyperpod_shared.aws_errors import code

_PARTITION = "${AWS::Partition}"
# In IAM, and in Kubernetes.
_BROADENING = {PERMISSIONS, ACCESS}
# There is such a stack once a change set would create it, and nothing in it.
_EMPTY = "REVIEW_IN_PROGRESS"


def stage_stacks(assembly: Path, *, environment: str, partition: str) -> Iterator[Stack]:
    """Yield the stacks of an environment, as the pipeline's synthesis wrote them."""
    for stack in stacks_in(assembly / f"assembly-{environment}"):
        yield replace(stack, lookup_role=stack.lookup_role.replace(_PARTITION, partition))


def reader(stack: Stack, *, session: boto3.Session) -> boto3.Session:
    """Return a session that may read the account and region of a stack."""
    sts = session.client("sts", region_name=stack.region)
    place = f"{stack.account}/{stack.region}"
    try:
        caller = sts.get_caller_identity()["Account"]
        made = sts.assume_role(RoleArn=stack.lookup_role, RoleSessionName="pipeline-review")
    except (BotoCoreError, ClientError) as error:
        if code(error) != "AccessDenied":
            raise OpsError(f"{place}: {one_line(error)}") from None
        raise OpsError(
            f"{place}: role {stack.lookup_role} cannot be assumed: bootstrap the account and "
            "region for the pipeline's account, with FILE of this environment: hyperpod-cdk "
            f"bootstrap FILE --trust {caller} --policies ARNS"
        ) from None
    key = made["Credentials"]
    return boto3.Session(
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
        aws_session_token=key["SessionToken"],
        region_name=stack.region,
    )


def deployed(stack: Stack, *, config: Config, session: boto3.Session) -> Deployed | None:
    """Return what is deployed of a stack; None when nothing is."""
    client = session.client("cloudformation", region_name=stack.region)
    try:
        found = wanted_stack(client, config, name=stack.name)
    except (BotoCoreError, ClientError, UnreadableTemplateError) as error:
        raise OpsError(f"{stack.name}: {one_line(error)}") from None
    return None if found is None or found.status == _EMPTY else found


# https://docs.aws.amazon.com/general/latest/gr/rande.html
_CONSOLES = {"aws-cn": "console.amazonaws.cn", "aws-us-gov": "console.amazonaws-us-gov.com"}
# What an operator must do before CloudFormation updates a stack of such a status again.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
_STUCK = {
    "ROLLBACK_COMPLETE": "delete-stack",
    "ROLLBACK_FAILED": "delete-stack",
    "UPDATE_ROLLBACK_FAILED": "continue-update-rollback",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """What a deployment would do to an environment; `rehearsed` is None without a rehearsal."""

    environment: str
    plan: Plan
    unprotected: tuple[str, ...]
    rehearsed: RehearsedChange | None = None

    def __str__(self) -> str:
        """Return it for the approver, in less than what an approval shows."""
        names = [each.name for each in self.plan.stacks if each.name not in self.plan.unchanged]
        created = [name for name in names if self.plan.former[name] is None]
        changed = [name for name in names if name not in created]
        does = [
            f"creates {', '.join(created)}" if created else "",
            f"changes {', '.join(changed)}" if changed else "",
            "" if names else "changes nothing",
        ]
        rules = {effect.rule for effect in self.plan.effects}
        warnings = [
            "PERMISSIONS BROADEN." if rules & _BROADENING else "",
            "RESOURCES ARE REPLACED OR DELETED." if self.plan.destroys else "",
            "NODES END, OR DATA IS LOST." if self.plan.needs_consent else "",
            (
                f"Without termination protection: {', '.join(self.unprotected)}."
                if self.unprotected
                else ""
            ),
            "" if self.rehearsed is None else self.rehearsed.sentence,
        ]
        text = "; ".join(filter(None, does))
        return " ".join(filter(None, [f"{self.environment}: {text}.", *warnings]))


def review(
    loaded: Loaded,
    *,
    environment: str,
    assembly: Path,
    session: boto3.Session,
    rehearses: bool = False,
) -> tuple[Review, str]:
    """Compare an environment with what is deployed; return the judgment and the differences."""
    deployment = _deployment(loaded, environment)
    config = deployment.config
    partition = regions()[config.region or ""]
    stacks = list(stage_stacks(assembly, environment=environment, partition=partition))
    session = reader(stacks[0], session=session)
    clients: Any = session.client  # the stubs know each service by a literal
    place = Environment(partition=partition, account=stacks[0].account, region=stacks[0].region)
    told = refuse_problems(config, environment=place, session=session, config_path=deployment.path)
    found = {stack.name: deployed(stack, config=config, session=session) for stack in stacks}
    refused = [line for stack in stacks for line in refusals(stack, found[stack.name])]
    refused += missed_exports(stacks, there=found, file=deployment.path)
    if refused:
        raise LinesError("\n".join(refused))
    try:
        plan = plan_of(
            stacks,
            former=found,
            config=config,
            path=deployment.path,
            client=partial(clients, region_name=place.region),
            region=place.region,
        )
    except IncomparableError as error:
        raise LinesError(str(error)) from None
    unprotected = [stack.name for stack in stacks if is_unprotected(stack, found[stack.name])]
    rehearsed = None
    if rehearses:
        rehearsed = NOTHING_DEPLOYED
        if any(found.values()):
            folder = assembly / f"assembly-{environment}"
            rehearsed = rehearse_change(deployment.path, assembly=folder, session=session)
    judged = Review(
        environment=environment, plan=plan, unprotected=tuple(unprotected), rehearsed=rehearsed
    )
    texts = [*changes_in_full(plan)] + ([] if rehearsed is None else [rehearsed.text])
    return judged, "\n".join([*(f"WARNING {line}" for line in told), *texts])


def refusals(stack: Stack, found: Deployed | None) -> Iterator[str]:
    """Yield why CloudFormation must not, or could not, update a stack; one line each."""
    if found is None:
        return
    if found.is_foreign:
        yield foreign_stack(stack.name, found)
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
    """Write the differences for the approver, and the variables that the approval shows."""
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
    raise LinesError(f"{environment}: is not an environment of the pipeline")

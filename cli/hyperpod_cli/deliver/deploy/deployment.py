"""Deploys stacks that `cdk synth` has written, and leaves a report behind."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console

from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws import stacks
from hyperpod_cli.aws.stacks import NOTHING_SHORT, documented_outputs, output_lines
from hyperpod_cli.deliver.deploy.verification import verification_of
from hyperpod_cli.inspect.report.page import Attempt, Content, write
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import problems
from hyperpod_cli.inspect.verification.verify import summary as summary_of
from hyperpod_cli.plan.plan import Plan, make_plan
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.stack_progress.terminal import (
    StackRunResult,
    agreed,
    followed,
    lift_protection,
    refuse_changed,
    run,
    wrapped,
)
from hyperpod_cli.terminal.console import console, print_json, require_terminal
from hyperpod_cli.terminal.errors import DECLINED, INTERRUPTED

REPORTS = Path("build/deploy")


_CONCURRENCY = "3"


def deploy(request: DeploymentRequest, *, yes: bool, as_json: bool = False) -> int:
    """Say what changes, ask, deploy and verify; return the exit code of the CDK CLI.

    As JSON, the plan alone is on standard output, and without `yes` nothing is deployed.
    """
    plan = make_plan(request)
    ended = _shown(plan, request=request, yes=yes, as_json=as_json)
    if ended is not None:
        return ended
    out = console(soft_wrap=True, stderr=as_json)
    outcome = _run(plan, request=request, out=out)
    succeeded = outcome.code == 0
    known = _outputs(request) if succeeded else {}
    checks = verification_of(request, succeeded=succeeded, outputs=known, out=out)
    outputs = {stack.name: known[stack.name] for stack in plan.stacks if stack.name in known}
    following = [*_next(plan, request=request, outputs=outputs, checks=checks)] if succeeded else []
    report = write_report(
        outcome, request=request, outputs=outputs, checks=checks, following=following
    )
    if succeeded:
        for line in (*problems(checks), f"\n{summary_of(checks)}"):
            out.print(line)
    for line in (*output_lines(outputs), f"\n{report}", "", *following):
        out.print(wrapped(line, width=out.width if out.is_terminal else None))
    return outcome.code


def _shown(plan: Plan, *, request: DeploymentRequest, yes: bool, as_json: bool) -> int | None:
    """Show a plan and ask; return the exit code where it is not to be done, else None."""
    if plan.unknown:
        print(plan.unknown, file=sys.stderr)
    if as_json:
        print_json(plan.as_json(request.path))
        return None if yes else 0
    print("\n".join(plan.lines()))
    if plan.changes and not yes:
        require_terminal(yes=yes)
        if not agreed("Deploy?"):
            print("Nothing was deployed.")
            return DECLINED
        refuse_changed(request.session.polling_client("cloudformation"), plan.former)
    return None


def _run(plan: Plan, *, request: DeploymentRequest, out: Console) -> StackRunResult:
    """Deploy with the CDK CLI; asking is over."""
    session, again = request.session, request.again
    client, region = session.polling_client("cloudformation"), session.region
    for line in lift_protection(client, plan.former, region=region, again=again):
        out.print(line)
    # The plan has what they need.
    command = ["deploy", "--exclusively", *(stack.name for stack in plan.stacks)]
    command += ["--app", str(request.templates), "--concurrency", _CONCURRENCY]
    command += ["--require-approval", "never"]
    if request.express:
        # With --rollback, a failure ends as it does without express mode.
        command += ["--express", "--rollback"]
    return run(
        command,
        stacks=followed(plan.stacks, unchanged=plan.unchanged),
        client=client,
        region=region,
        again=again,
        out=out,
        environment=session.cli_environment(),
    )


def write_report(
    outcome: StackRunResult,
    *,
    request: DeploymentRequest,
    outputs: Mapping[str, Mapping[str, str]],
    checks: Sequence[Check],
    following: Sequence[str] = (),
) -> str:
    """Write the report of a deployment; return the line that says where it is, or why not."""
    verdict = f"The deployment succeeded. {summary_of(checks)}"
    if outcome.code:
        ended = "was interrupted" if outcome.code == INTERRUPTED else "failed"
        verdict = f"The deployment {ended}."
    config, command, region = request.config, request.again, request.session.region
    path = REPORTS / config.name / "report.html"
    content = Content(
        title=f"Deployment of {config.name}",
        verdict=verdict,
        ok=outcome.code == 0,
        written=datetime.now(UTC),
        facts={"Command": command, "Region": region},
        config=config,
        cost=cost(config, region=region, day=date.today()),
        attempts=[Attempt(command=command, events=outcome.events, messages=outcome.messages)],
        outputs=outputs,
        checks=checks,
        following=following,
    )
    problem = write(content, path)
    return f"Report: {path}" if problem is None else f"There is no report: {problem}"


def _outputs(request: DeploymentRequest) -> dict[str, dict[str, str]]:
    """Return the outputs that people look up, of all stacks that have any, as far as known."""
    client = request.session.polling_client("cloudformation")
    outputs: dict[str, dict[str, str]] = {}
    try:
        for stack in request.all_stacks:
            described = stacks.described_stack(client, stack.name)
            if described is not None and described.get("Outputs"):
                outputs[stack.name] = documented_outputs(described)
    except (BotoCoreError, ClientError) as error:
        print(f"The outputs are not known: {one_line(error)}", file=sys.stderr)
    return outputs


def _next(
    plan: Plan,
    *,
    request: DeploymentRequest,
    outputs: Mapping[str, Mapping[str, str]],
    checks: Sequence[Check],
) -> Iterator[str]:
    """Yield what to run after a deployment."""
    config = request.config
    if any(check.is_known and not check.ok for check in checks):
        yield "What does not hold may be on its way. To look until it holds:"
        yield f"  hyperpod-cdk verify {request.place} --wait"
    by_name = {name: value for values in outputs.values() for name, value in values.items()}
    shortage = by_name.get(SHORTAGE, NOTHING_SHORT)
    if shortage != NOTHING_SHORT:
        yield f"Nodes are missing. {shortage}"
    if config.control_plane is None and "HyperPodClusterName" in by_name:
        yield "To look at the nodes, with sinfo on the controller:"
        yield f"  hyperpod-cdk connect controller {request.place}"
    cluster = by_name.get("EKSClusterName")
    if cluster is not None and config.control_plane is not None:
        if not config.control_plane.admins:
            yield (
                "WARNING eks.admins: [] gives no one access to the Kubernetes cluster; list your "
                "role there, or run the command in the output GrantAdminCommand. Then:"
            )
        else:
            yield "To look at the nodes:"
        yield f"  aws eks update-kubeconfig --name {cluster} --region {request.session.region}"
        yield "  kubectl get nodes"
    if plan.held:
        yield "Once nodes are running:"
        yield f"  {replace(request, only=' '.join(plan.held)).again}"

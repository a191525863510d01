"""Deploys stacks that `cdk synth` has written, and leaves a report behind."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_cli.aws.assembly import Stack, chosen, stacks_in
from hyperpod_cli.aws.session import AwsClient, deployer_session
from hyperpod_cli.aws.stacks import (
    NOTHING_SHORT,
    deployed,
    documented_outputs,
    output_lines,
)
from hyperpod_cli.deliver.deploy.verification import not_verified, verified
from hyperpod_cli.deliver.shell_findings import shell_findings
from hyperpod_cli.inspect.cost import cost_here, summary
from hyperpod_cli.inspect.report.page import Attempt, Content, write
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import check_once, problems
from hyperpod_cli.inspect.verification.verify import summary as summary_of
from hyperpod_cli.plan.plan import Plan, make_plan
from hyperpod_cli.stack_progress.terminal import (
    StackRunResult,
    agreed,
    followed,
    lift_protection,
    run,
    wrapped,
)
from hyperpod_cli.terminal.console import console, print_json, require_terminal
from hyperpod_cli.terminal.errors import DECLINED, INTERRUPTED
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.table import release_stack

REPORTS = Path("build/deploy")


_CONCURRENCY = "3"


def deploy(
    path: Path, *, templates: Path, only: str, express: bool, yes: bool, as_json: bool = False
) -> int:
    """Say what changes, ask, deploy and verify; return the exit code of the CDK CLI.

    `only` has the names of stacks with spaces, which are deployed with those that they need; "" is
    for all. As JSON, the plan alone is on standard output, and without `yes` nothing is deployed.
    """
    config = load_config(path)
    session = deployer_session(config)
    stacks = chosen(stacks_in(templates), only.split())
    again = _command(path, only=only, express=express)
    client, region = session.polling_client("cloudformation"), session.region
    plan = make_plan(stacks, config=config, path=path, session=session, again=again)
    ended = _shown(plan, config=config, path=path, yes=yes, as_json=as_json)
    if ended is not None:
        return ended
    held, stacks = plan.held, [*plan.stacks]
    out = console(soft_wrap=True, stderr=as_json)
    for line in lift_protection(client, plan.former, region=region, again=again):
        out.print(line)
    outcome = run(
        _cdk(stacks, templates=templates, express=express),
        stacks=followed(stacks, unchanged=plan.unchanged),
        client=client,
        region=region,
        again=again,
        out=out,
        environment=session.cli_environment(),
    )
    where = f"{shlex.quote(str(path))} --region {region}"
    later = f"hyperpod-cdk verify {where}"
    outputs: Mapping[str, Mapping[str, str]] = {}
    following: list[str] = []
    if outcome.code == 0:
        outputs, nodes = _outputs(client, stacks), release_stack(config)
        if only and deployed(client, nodes) is None:
            checks = not_verified(f"{nodes} is not deployed", later=later)
        else:
            checks = verified(check_once(config, session=session), later=later, out=out)
        following += _next(config, outputs, checks=checks, region=region, where=where)
        if held:
            then = _command(path, only=" ".join(held), express=express)
            following += ["Once nodes are running:", f"  {then}"]
    else:
        checks = not_verified("The deployment did not succeed", later=later)
    report = write_report(
        outcome,
        command=again,
        config=config,
        region=region,
        outputs=outputs,
        checks=checks,
        following=following,
    )
    if outcome.code == 0:
        for line in (*problems(checks), f"\n{summary_of(checks)}"):
            out.print(line)
    for line in (*output_lines(outputs), f"\n{report}", "", *following):
        out.print(wrapped(line, width=out.width if out.is_terminal else None))
    return outcome.code


def _shown(plan: Plan, *, config: Config, path: Path, yes: bool, as_json: bool) -> int | None:
    """Show a plan and ask; return the exit code where it is not to be done, else None."""
    if plan.unknown:
        print(plan.unknown, file=sys.stderr)
    if as_json:
        print_json(plan.as_json(path))
        return None if yes else 0
    warnings = (f"WARNING {finding}" for finding in shell_findings(config))
    print("\n".join([*plan.lines(), *warnings, summary(cost_here(config))]))
    if plan.changes and not yes:
        require_terminal(yes=yes)
        if not agreed("Deploy?"):
            print("Nothing was deployed.")
            return DECLINED
    return None


def write_report(
    outcome: StackRunResult,
    *,
    command: str,
    config: Config,
    region: str,
    outputs: Mapping[str, Mapping[str, str]],
    checks: Sequence[Check],
    following: Sequence[str] = (),
) -> str:
    """Write the report of a deployment; return the line that says where it is, or why not."""
    verdict = f"The deployment succeeded. {summary_of(checks)}"
    if outcome.code:
        ended = "was interrupted" if outcome.code == INTERRUPTED else "failed"
        verdict = f"The deployment {ended}."
    attempt = Attempt(command=command, events=outcome.events, messages=outcome.messages)
    path = REPORTS / config.name / "report.html"
    content = Content(
        title=f"Deployment of {config.name}",
        verdict=verdict,
        ok=outcome.code == 0,
        written=datetime.now(UTC),
        facts={"Command": command, "Region": region},
        config=config,
        cost=cost_here(config),
        attempts=[attempt],
        outputs=outputs,
        checks=checks,
        following=following,
    )
    problem = write(content, path)
    return f"Report: {path}" if problem is None else f"There is no report: {problem}"


def _command(path: Path, *, only: str, express: bool) -> str:
    """Return what the user has run."""
    stacks = ["--only", only] if only else []
    return command_line("deploy", path, *stacks, *(["--express"] if express else []))


def _cdk(stacks: Sequence[Stack], *, templates: Path, express: bool) -> list[str]:
    """Return the command of the CDK CLI; asking is over."""
    names = [stack.name for stack in stacks]
    command = ["deploy", *names, "--app", str(templates), "--concurrency", _CONCURRENCY]
    command += ["--require-approval", "never"]
    # With --rollback, a failure ends as it does without express mode.
    return [*command, "--express", "--rollback"] if express else command


def _outputs(client: AwsClient, stacks: Sequence[Stack]) -> dict[str, dict[str, str]]:
    try:
        described = {
            each.name: client.describe_stacks(StackName=each.name)["Stacks"][0] for each in stacks
        }
    except (BotoCoreError, ClientError) as error:
        print(f"The outputs are not known: {' '.join(str(error).split())}", file=sys.stderr)
        return {}
    return {name: documented_outputs(each) for name, each in described.items()}


def _next(
    config: Config,
    outputs: Mapping[str, Mapping[str, str]],
    *,
    checks: Sequence[Check],
    region: str,
    where: str,
) -> Iterator[str]:
    """Yield what to run after a deployment."""
    if any(each.is_known and not each.ok for each in checks):
        yield "What does not hold may be on its way. To look until it holds:"
        yield f"  hyperpod-cdk verify {where} --wait"
    found = {name: value for values in outputs.values() for name, value in values.items()}
    shortage = found.get(SHORTAGE, NOTHING_SHORT)
    if shortage != NOTHING_SHORT:
        yield f"Nodes are missing. {shortage}"
    if config.control_plane is None and "HyperPodClusterName" in found:
        yield "To look at the nodes, with sinfo on the controller:"
        yield f"  hyperpod-cdk connect controller {where}"
    cluster = found.get("EKSClusterName")
    if cluster is None or config.control_plane is None:
        return
    if not config.control_plane.admins:
        yield (
            "WARNING eks.admins: [] gives no one access to the Kubernetes cluster; list your role "
            "there, or run the command in the output GrantAdminCommand. Then:"
        )
    else:
        yield "To look at the nodes:"
    yield f"  aws eks update-kubeconfig --name {cluster} --region {region}"
    yield "  kubectl get nodes"

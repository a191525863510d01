"""Verifies a deployment, once or until all holds, and shows what does not."""

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.kubernetes_api import kubernetes_api, one_line_errors, unreached
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stacks import outputs_of
from hyperpod_cli.inspect.registered import concerning, registered
from hyperpod_cli.inspect.verification import subjects as subjects_to_verify
from hyperpod_cli.inspect.verification.check import Check, LiveDeployment, Subject, Verify, several
from hyperpod_cli.inspect.verification.deployed_groups import TITLE, as_deployed, without_awaited
from hyperpod_cli.terminal.console import console, print_json
from hyperpod_cli.terminal.errors import OpsError, TransientError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.aws_errors import is_transient
from hyperpod_stacks.table import STACKS, stack_names

SUBJECTS: Mapping[str, Subject] = registered(subjects_to_verify, space=" ")
"""Each by name, in the order in which they are checked; those of each orchestrator."""
_PAUSE_SECONDS = 15.0


def look(config: Config, *, session: AwsSession) -> list[Check]:
    """Return every check of a deployment; refuse one without all its stacks."""
    cloudformation = session.client("cloudformation")
    outputs = {
        name: outputs_of(cloudformation, name)
        for kind, name in stack_names(config).items()
        if STACKS[kind].has_outputs
    }
    return [*check_once(config, session=session, outputs=outputs)]


def check_once(
    config: Config, *, session: AwsSession, outputs: Mapping[str, Mapping[str, str]]
) -> Iterator[Check]:
    """Yield every check of a deployment, whose stacks have these outputs, as it is done."""
    try:
        config, differs = as_deployed(config, cloudformation=session.client("cloudformation"))
        config = without_awaited(config, client=session.client)
    except (BotoCoreError, ClientError) as error:
        differs = not_looked_at(TITLE, why=explanation(error))
    if differs is not None:
        yield differs
    with ExitStack() as stack:
        kubernetes = unreached(OpsError(f"cluster: {config.cluster.name!r} has no Kubernetes"))
        # A new client for each look: its token is valid for 15 minutes.
        try:
            if config.control_plane is not None:
                client = kubernetes_api(session, eks_cluster=config.eks_cluster_name)
                kubernetes = stack.enter_context(client)
        except (BotoCoreError, ClientError, OpsError) as error:
            kubernetes = unreached(error)
        yield from verify(
            LiveDeployment(
                config=config, client=session.client, kubernetes=kubernetes, outputs=outputs
            )
        )


def check_until_all_hold(
    verify: Callable[[], list[Check]],
    *,
    seconds: float,
    say: Callable[[str], None],
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Check]:
    """Return the checks once all that can be looked at hold, or those of the last look.

    After so many seconds, it does not look again. A line is said whenever another number of checks
    holds; an error that may pass is waited out.
    """
    deadline = now() + seconds
    shown = ""
    while True:
        try:
            checks = verify()
            line, pause = _waiting(checks), min(_PAUSE_SECONDS, deadline - now())
            if not line or pause <= 0:
                return checks
        except (BotoCoreError, ClientError, OpsError) as error:
            pause = min(_PAUSE_SECONDS, deadline - now())
            if not _is_transient_error(error) or pause <= 0:
                raise
            line = explanation(error)
        if line != shown:
            say(line)
            shown = line
        sleep(pause)


def verify(
    deployment: LiveDeployment, *, subjects: Mapping[str, Verify] | None = None
) -> Iterator[Check]:
    """Yield each check, of all subjects by default, and then what could not be looked at."""
    if subjects is None:
        subjects = concerning(SUBJECTS, deployment.config)
    unknown: dict[tuple[str, bool], list[str]] = {}
    for name, subject in subjects.items():
        try:
            with one_line_errors(deployment.kubernetes):
                yield from subject(deployment)
        except (BotoCoreError, ClientError, OpsError) as error:
            why = explanation(error)
            unknown.setdefault((why, _is_transient_error(error)), []).append(name)
    # One for all subjects with the same trouble: without Kubernetes, that is half of them.
    for (why, transient), names in unknown.items():
        yield not_looked_at(", ".join(names), why=why, is_transient=transient)


def _is_transient_error(error: Exception) -> bool:
    """Say whether what could not be looked at may be a minute later."""
    return isinstance(error, TransientError) or is_transient(error)


def not_looked_at(title: str, *, why: str, is_transient: bool = False) -> Check:
    """Return a check that could not be made: why and, behind a semicolon, what to do."""
    reason, _, advice = why.partition("; ")
    return Check(
        title=title,
        ok=False,
        found=reason,
        advice=advice[:1].upper() + advice[1:],
        is_known=False,
        is_transient=is_transient,
    )


def _waiting(checks: Sequence[Check]) -> str:
    """Return what there is to wait for; empty if another look would find the same."""
    waiting = [
        check.title for check in checks if not check.ok and (check.is_known or check.is_transient)
    ]
    if not waiting:
        return ""
    held = sum(check.ok for check in checks)
    return f"{held} of {len(checks)} hold; waiting for: {several(waiting, most=2)}"


def show(checks: Sequence[Check], *, as_json: bool) -> None:
    """Show checks."""
    if as_json:
        print_json([check.as_json() for check in checks])
        return
    out = console()
    # Not broken: commands can be copied.
    for check in checks:
        out.print(f"{_mark(check):<4} {check.title}", soft_wrap=True)
    for line in problems(checks):
        out.print(line, soft_wrap=True)
    out.print(f"\n{summary(checks)}")


def problems(checks: Sequence[Check]) -> Iterator[str]:
    """Yield what does not hold or is not known, and what to do about it."""
    for check in checks:
        if not check.ok:
            yield f"\n{_mark(check)} {check.title}"
            yield f"  {'Found' if check.is_known else 'Not looked at'}: {check.found}"
            yield f"  {check.advice}"


def summary(checks: Sequence[Check]) -> str:
    """Return how many checks hold, in a sentence."""
    known = [check for check in checks if check.is_known]
    if not known:
        return "Nothing was checked."
    count = f"{sum(check.ok for check in known)} of {len(known)} checks hold"
    return f"{count}." if len(known) == len(checks) else f"{count}; not everything was looked at."


def not_readable(config: Config, *, options: Sequence[str]) -> str | None:
    """Return a line on what no reading shows and which command does; None without pods.

    Args:
        config: What is deployed.
        options: What names it on a command line.
    """
    if config.control_plane is None:
        return None
    command = shlex.join(["hyperpod-cdk", "validate-nodes", *options, "--check", "node"])
    return (
        "Not known: whether pods on the nodes of HyperPod reach the instance metadata service, and "
        f"the role of the nodes; {command} looks from a pod"
    )


def _mark(check: Check) -> str:
    if check.ok:
        return "ok"
    return "FAIL" if check.is_known else "?"

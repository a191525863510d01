"""What `deploy` and `destroy` share at the terminal."""

import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired

from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console

from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws import cdk_cli
from hyperpod_cli.aws.assembly import Stack, construct_paths
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import Deployed, UnreadableTemplateError, deployed
from hyperpod_cli.stack_progress.failures import failure_lines, interruption_lines, untold_failure
from hyperpod_cli.stack_progress.operation import POLL_SECONDS, Operation
from hyperpod_cli.stack_progress.progress import Display, Followed
from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError
from hyperpod_cli.terminal.interrupts import INTERRUPTS

FAILED_CREATIONS = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")


def lift_protection(
    client: AwsClient,
    stacks: Mapping[str, Deployed | None],
    *,
    region: str,
    again: str,
) -> Iterator[str]:
    """Lift the termination protection of stacks whose creation failed; yield a line for each.

    The CDK CLI protects a stack before it is created, and deletes one whose creation failed without
    lifting that.
    """
    for name, stack in stacks.items():
        if stack is None or not stack.is_protected or stack.status not in FAILED_CREATIONS:
            continue
        try:
            # A question may have been answered late, when another deployment was done.
            if deployed(client, name) != stack:
                continue
            client.update_termination_protection(StackName=name, EnableTerminationProtection=False)
        except (BotoCoreError, ClientError) as error:
            raise OpsError(
                f"{name}: is {stack.status}, and its termination protection cannot be lifted: "
                f"{one_line(error)}. Run: aws cloudformation "
                f"update-termination-protection --no-enable-termination-protection --stack-name "
                f"{name} --region {region}; {again}"
            ) from None
        yield f"{name}: termination protection lifted, since its creation failed ({stack.status})"


@dataclass(frozen=True, kw_only=True, slots=True)
class StackRunResult:
    """What came of an operation; its code is 130 after Ctrl-C.

    The events are without those of nested stacks. The messages say why it failed, or what goes on
    after Ctrl-C.
    """

    code: int
    events: Mapping[str, Sequence[StackEvent]]
    messages: Sequence[str] = ()


LOGS = Path("build/cdk")
_YES = ("y", "yes")


def wrapped(text: str, *, width: int | None) -> str:
    """Return a text in lines that fit a terminal, if any; indented commands stay whole."""
    if width is None:
        return text
    lines = (
        [line]
        if line.startswith("  ")
        else textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join("\n".join(line) for line in lines)


def agreed(question: str) -> bool:
    """Ask once; anything but a yes is a no."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in _YES
    except (EOFError, KeyboardInterrupt):
        return False


def refuse_changed(client: AwsClient, stacks: Mapping[str, Deployed | None]) -> None:
    """Refuse to go on with stacks that are not any more what a question was asked about."""
    changed = []
    for name, stack in stacks.items():
        try:
            is_same = deployed(client, name) == stack
        except UnreadableTemplateError:
            is_same = False
        if not is_same:
            changed.append(name)
    if changed:
        raise OpsError(
            f"{', '.join(changed)}: changed after this was shown; nothing was done; run it again"
        )


def followed(stacks: Sequence[Stack], *, unchanged: Collection[str] = ()) -> list[Followed]:
    """Return stacks as their progress is shown."""
    return [
        Followed(
            name=stack.name,
            size=stack.size,
            paths=construct_paths(stack.template),
            needs=[name for name in stack.needs if name not in unchanged],
            changes=stack.name not in unchanged,
        )
        for stack in stacks
    ]


def run(
    command: Sequence[str],
    *,
    stacks: Sequence[Followed],
    client: AwsClient,
    region: str,
    again: str,
    out: Console,
    environment: Mapping[str, str] | None = None,
    poll_seconds: float = POLL_SECONDS,
) -> StackRunResult:
    """Run a command of the CDK CLI, show its progress, and say why it failed if it does.

    Its environment is that of this process unless another is given.
    """
    operation = Operation(client=client, stacks=stacks, poll_seconds=poll_seconds)
    log = LOGS / f"{command[0]}-{stacks[0].name}.log"
    operation.begin()
    try:
        with (
            cdk_cli.running(command, log=log, environment=environment) as process,
            Display(stacks, console=out) as display,
        ):

            def wait(seconds: float) -> int | None:
                try:
                    return process.wait(timeout=seconds)
                except TimeoutExpired:
                    return None

            code = operation.follow(wait, display=display)
    # What nothing reads any more is not gone on with either.
    except (KeyboardInterrupt, BrokenPipeError):
        # A further signal ends this look, which takes long without a network; not what follows.
        with suppress(KeyboardInterrupt):
            INTERRUPTS.allowed(operation.read)
        known = {each.name: operation.events.get(each.name, ()) for each in stacks if each.changes}
        lines = ["Interrupted.", *interruption_lines(known, region=region, again=again)]
        # There may be no terminal any more, and what follows is still to be done.
        with suppress(OSError), log.open("a", encoding="utf-8") as file:
            file.write("\n".join([*lines, ""]))
        with suppress(BrokenPipeError):
            out.print()
        print("\n".join(lines), file=sys.stderr)
        return StackRunResult(code=INTERRUPTED, events=operation.events, messages=lines)
    lines = []
    if code != 0:
        paths = {stack.name: stack.paths for stack in stacks}
        causes = [
            *failure_lines(operation.events_with_nested(), region=region, again=again, paths=paths)
        ]
        lines = causes or [*untold_failure(cdk_cli.reported(log), log=log)]
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else None
        print("\n".join(["", *(wrapped(line, width=width) for line in lines)]), file=sys.stderr)
    return StackRunResult(code=code, events=operation.events, messages=lines)

"""What `deploy` and `destroy` share at the terminal."""

import io
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.stack_progress import terminal
from hyperpod_cli.stack_progress.failures import interruption_lines
from hyperpod_cli.stack_progress.progress import Followed
from hyperpod_cli.stack_progress.terminal import lift_protection, refuse_changed
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.interrupts import INTERRUPTS
from tests.conftest import Raises
from tests.support.commands import cdk_program, kept_signals
from tests.support.played import Played
from tests.support.stack_events import CloudFormation, event, refused

LIFTED = {"StackName": "storage", "EnableTerminationProtection": False}


def client(status: str, answer: object = None) -> Played:
    """Return a client to which a stack is protected; what it answers to who lifts that."""
    return Played(
        describe_stacks={"Stacks": [{"StackStatus": status, "EnableTerminationProtection": True}]},
        get_template={"TemplateBody": {}},
        update_termination_protection=answer,
    )


def lifted(client: Played, **stacks: Deployed | None) -> list[str]:
    """Return what is said; it is said of what is lifted, and of nothing else."""
    lines = [*lift_protection(client, stacks, region="us-west-2", again="hyperpod-cdk deploy")]
    assert client.asked("update_termination_protection") == [LIFTED] * len(lines)
    return lines


@pytest.mark.parametrize(
    ("status", "is_protected", "is_lifted"),
    [
        ("ROLLBACK_COMPLETE", True, True),
        ("ROLLBACK_FAILED", True, True),
        ("ROLLBACK_COMPLETE", False, False),
        ("CREATE_COMPLETE", True, False),
        ("UPDATE_ROLLBACK_COMPLETE", True, False),
        ("UPDATE_ROLLBACK_FAILED", True, False),
        ("DELETE_FAILED", True, False),
        ("ROLLBACK_IN_PROGRESS", True, False),
    ],
)
def test_only_a_failed_creation_loses_its_protection(
    *, status: str, is_protected: bool, is_lifted: bool
) -> None:
    stack = Deployed(status=status, template={}, is_protected=is_protected)
    assert len(lifted(client(status), storage=stack, platform=None)) == is_lifted


def test_a_stack_that_was_created_meanwhile_keeps_its_protection() -> None:
    stack = Deployed(status="ROLLBACK_COMPLETE", template={}, is_protected=True)
    assert lifted(client("CREATE_COMPLETE"), storage=stack) == []


@pytest.mark.parametrize("status", ["CREATE_COMPLETE", "UPDATE_IN_PROGRESS"])
def test_a_stack_that_has_changed_since_it_was_shown_is_refused(status: str) -> None:
    stack = Deployed(status="CREATE_COMPLETE", template={}, is_protected=True)
    refuse_changed(client("CREATE_COMPLETE"), {"storage": stack})
    shown = stack if status != stack.status else None  # it was not there
    with pytest.raises(OpsError, match="storage: changed"):
        refuse_changed(client(status), {"storage": shown})


def test_who_may_not_lift_it_reads_which_command_does(raises: Raises) -> None:
    stack = Deployed(status="ROLLBACK_COMPLETE", template={}, is_protected=True)
    with raises(OpsError):
        lifted(client("ROLLBACK_COMPLETE", refused("AccessDenied")), storage=stack)


NAME = "ml-hyperpod"
AGAIN = "hyperpod-cdk deploy config/mine.yaml"
STACKS = [Followed(name=NAME, size=2, paths={"Cluster1": "Cluster"})]
ROLLED_BACK = [
    event(NAME, "CREATE_IN_PROGRESS"),
    event("Cluster1", "CREATE_FAILED", 5, reason="no capacity", type="Custom::HyperPodCluster"),
    event(NAME, "ROLLBACK_IN_PROGRESS", 6),
    event(NAME, "ROLLBACK_COMPLETE", 9),
]
RULE = "Template error: rule CidrUnchanged871EE9FB failed: network.cidr: cannot be changed"


class Happening(CloudFormation):
    """A client that lists what happens only from its second reading on."""

    later: tuple[StackEvent, ...] = ()

    def get_paginator(self, name: str) -> CloudFormation:
        events, self.later = self.later, ()
        if self.calls:
            self.add(*events)
        else:
            self.calls, self.later = 1, events
        return super().get_paginator(name)


@pytest.fixture
def cdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in place of the CLI, which does what a test writes into it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "LOGS", tmp_path / "logs")
    return cdk_program(tmp_path, "#!/bin/sh\nexit 0\n")


def ran(client: CloudFormation) -> tuple[int, str]:
    out = io.StringIO()
    outcome = terminal.run(
        ["deploy", NAME],
        stacks=STACKS,
        client=client,
        region="us-west-2",
        again=AGAIN,
        out=Console(file=out, width=200),
        poll_seconds=0.01,
    )
    return outcome.code, out.getvalue()


def happening(*events: StackEvent) -> Happening:
    client = Happening()
    client.later = events
    return client


def test_a_success_shows_the_progress_alone(cdk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [event(NAME, "CREATE_IN_PROGRESS"), event(NAME, "CREATE_COMPLETE", 65)]
    code, shown = ran(happening(*events))
    assert code == 0
    assert shown.splitlines()[-1].endswith("ml-hyperpod: CREATE_COMPLETE in 1 m 05 s")
    assert capsys.readouterr().err == ""
    assert (cdk.parents[2] / "logs" / f"deploy-{NAME}.log").exists()


def test_a_failure_begins_with_its_cause(
    cdk: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    cdk.write_text("#!/bin/sh\necho wrapped >&2\nexit 1\n")
    code, _ = ran(happening(*ROLLED_BACK))
    assert code == 1
    assert capsys.readouterr().err == snapshot


@pytest.mark.parametrize(
    "printed",
    [
        f"WARNING eks.admins: nobody\n   in a stack\n{RULE}",
        "❌  ml-hyperpod: failed Error: no\nno",
        "",
    ],
    ids=["refusal", "error", "nothing"],
)
def test_what_no_stack_tells_is_told_by_the_cli(
    cdk: Path, capsys: pytest.CaptureFixture[str], printed: str, snapshot: SnapshotAssertion
) -> None:
    cdk.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{printed}\nEND\nexit 1\n")
    code, _ = ran(CloudFormation())
    assert code == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert said[0] == snapshot
    assert len(said) == 2


@pytest.mark.usefixtures("cdk")
def test_the_operation_goes_on_where_its_events_may_not_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, shown = ran(CloudFormation(error=refused("AccessDenied", "not authorized")))
    assert code == 0
    assert "cannot be followed: " in shown
    assert "not authorized" in shown
    assert capsys.readouterr().err == ""


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def interrupting(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal that ends a command, as its programs handle it."""
    with kept_signals():
        # What starts the tests may ignore it, as `nohup` does.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        INTERRUPTS.install(allowed=True)
        yield request.param


def test_an_interrupt_says_how_an_operation_has_ended(snapshot: SnapshotAssertion) -> None:
    lines = interruption_lines(
        {NAME: [event(NAME, "DELETE_IN_PROGRESS"), event(NAME, "DELETE_COMPLETE", 5)]},
        region="us-west-2",
        again=AGAIN,
    )
    assert "\n".join(lines) == snapshot


def test_an_interrupt_ends_the_cli_and_says_what_goes_on(
    cdk: Path,
    interrupting: signal.Signals,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    started = cdk.parent / "started"
    cdk.write_text(f"#!/bin/sh\necho $$ > {started}.new && mv {started}.new {started}\nsleep 60\n")

    def interrupt() -> None:
        while not started.exists():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), interrupting)

    threading.Thread(target=interrupt).start()
    code, _ = ran(happening(event(NAME, "UPDATE_IN_PROGRESS")))

    assert code == 130
    assert capsys.readouterr().err == snapshot
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_further_signals_neither_keep_the_cli_alive_nor_the_user_uninformed(
    cdk: Path, interrupting: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    started = cdk.parent / "started"
    # It ends by itself some time after it was asked to, and sends each of the signals once more.
    again = f"kill -{interrupting:d} {os.getpid()}"
    cdk.write_text(
        f"#!/bin/sh\ntrap '{again}; sleep 0.1; {again}; exit 1' TERM\n"
        f"echo $$ > {started}\n{again}\nwhile :; do sleep 0.1; done\n"
    )

    class Read(Happening):
        def get_paginator(self, name: str) -> CloudFormation:
            if "Interrupted" not in told and INTERRUPTS.arrived >= 3:
                told.append("Interrupted")
                os.kill(os.getpid(), interrupting)
            return super().get_paginator(name)

    told: list[str] = []
    client = Read()
    client.later = (event(NAME, "UPDATE_IN_PROGRESS"),)
    code, _ = ran(client)

    assert (code, told) == (130, ["Interrupted"])
    assert capsys.readouterr().err.endswith(f": {AGAIN}\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.parametrize("width", [20, None])
def test_only_a_terminal_wraps_sentences_and_no_command(width: int | None) -> None:
    command = "  aws cloudformation rollback-stack --stack-name ml-hyperpod"
    text = f"\nThe cluster has no node in group-a.\n{command}"
    first = "The cluster has no\nnode in group-a." if width else text.splitlines()[1]
    assert terminal.wrapped(text, width=width) == f"\n{first}\n{command}"


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [
        *((answer, True) for answer in ("y", " YES ")),
        *((answer, False) for answer in ("", "no", "yeah", EOFError, KeyboardInterrupt)),
    ],
)
def test_only_a_yes_is_a_yes(
    monkeypatch: pytest.MonkeyPatch, answer: str | type[BaseException], agreed: bool
) -> None:
    def asked(_: str) -> str:
        if isinstance(answer, str):
            return answer
        raise answer

    monkeypatch.setattr("builtins.input", asked)
    assert terminal.agreed("Deploy?") is agreed

"""Checks at the end of `hyperpod-cdk deploy`: whatever they come to, the deployment is done."""

import os
import signal
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from queue import Queue
from threading import Event

import pytest
from rich.console import Console

from hyperpod_cdk.effects.effect import Template
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.deliver.deploy.verification import verification_of, verified
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.plan import request
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.terminal.errors import OpsError
from tests.support.commands import kept_signals
from tests.support.configs import CONFIG_FOLDER

GOOD = Check(title="kubectl get nodes", ok=True)
BAD = Check(title="kubectl get pvc", ok=False, found="is Lost", advice="Look")
LATER = "hyperpod-cdk verify config/mine.yaml"
FOREVER = 600.0


def made(checks: Iterator[Check], *, seconds: float = FOREVER) -> tuple[list[Check], str]:
    """Return what is found, and what is shown meanwhile."""
    shown = StringIO()
    out = Console(file=shown, force_terminal=False)
    return verified(checks, later=LATER, out=out, seconds=seconds), shown.getvalue()


def test_each_check_is_made() -> None:
    checks, shown = made(iter([GOOD, BAD]))
    assert checks == [GOOD, BAD]
    assert " 600 s; " in shown


def refused() -> Iterator[Check]:
    yield GOOD
    raise OpsError("stack: ml-hyperpod is not deployed in us-west-2; run `hyperpod-cdk deploy`")


def test_what_cannot_be_looked_at_is_a_check() -> None:
    (first, last), _ = made(refused())
    assert first == GOOD
    assert (last.ok, last.is_known) == (False, False)
    assert last.found == "stack: ml-hyperpod is not deployed in us-west-2"
    assert last.advice == f"Run `hyperpod-cdk deploy`. Then run `{LATER}`"


def faulty() -> Iterator[Check]:
    yield GOOD
    raise KeyError("Vpc")


def test_a_fault_of_the_program_is_a_check_and_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    told: Queue[type[BaseException]] = Queue()
    monkeypatch.setattr("threading.excepthook", lambda given: told.put(given.exc_type))
    (first, last), _ = made(faulty())
    assert told.get(timeout=FOREVER) is KeyError
    assert (first, last.is_known) == (GOOD, False)
    assert last.advice == f"Run `{LATER}`"


def test_after_the_time_nobody_waits_any_more() -> None:
    ended = Event()

    def hanging() -> Iterator[Check]:
        ended.wait()
        yield GOOD

    (last,), _ = made(hanging(), seconds=0)
    ended.set()
    assert (last.found, last.is_known) == ("There was no answer within 0 s", False)


def test_ctrl_c_skips_the_rest() -> None:
    ended = Event()

    def interrupted() -> Iterator[Check]:
        yield GOOD
        os.kill(os.getpid(), signal.SIGINT)
        ended.wait()

    with kept_signals():
        (first, last), _ = made(interrupted())
    ended.set()
    assert (first, last.found, last.advice) == (GOOD, "It was interrupted", f"Run `{LATER}`")


@pytest.mark.parametrize(
    ("succeeded", "why"),
    [
        (False, "The deployment did not succeed"),
        (True, "ml-hyperpod is not deployed, or not known"),
    ],
    ids=["failed", "some stacks only"],
)
def test_nothing_is_known_before_all_is_deployed(
    monkeypatch: pytest.MonkeyPatch, succeeded: bool, why: str
) -> None:
    with_outputs: Template = {"Outputs": {"VpcId": {}}}
    stacks = [
        Stack(name="ml-platform", template=with_outputs),
        Stack(name="ml-addons", template={}),
        Stack(name="ml-hyperpod", template=with_outputs),
    ]
    monkeypatch.setattr(request, "stacks_in", lambda _: stacks)
    session = AwsSession(region="us-west-2")
    monkeypatch.setattr(request, "deployer_session", lambda _: session)
    (check,) = verification_of(
        DeploymentRequest(path=CONFIG_FOLDER / "default.yaml", templates=Path("cdk.out")),
        succeeded=succeeded,
        outputs={"ml-platform": {"VpcId": "vpc-1"}},
        out=Console(file=StringIO()),
    )
    assert (check.found, check.is_known) == (why, False)

"""Looking again and again: a line for each change, or a screen that is renewed."""

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.status import display
from hyperpod_cli.operate.status.snapshot import GroupState, Snapshot
from hyperpod_cli.terminal.errors import OpsError

GROUP = GroupState(
    name="a",
    instance_type="ml.m5.2xlarge",
    status="InService",
    current=1,
    target=2,
    running=1,
    healthy=1,
    deep_health_checks={},
)
FIRST = Snapshot(
    cluster="ml",
    region="us-west-2",
    status="InService",
    time="2026-11-01 00:00:00",
    notes=[],
    groups=[GROUP],
    nodes=[],
    requested=[],
    events=[],
)
SECOND = replace(FIRST, time="2026-11-01 00:00:10", groups=[replace(GROUP, current=2)])


@pytest.mark.parametrize("terminal", [False, True])
def test_it_goes_on_after_an_error_until_interrupted(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    error = OpsError("no network")
    looks: Iterator[Snapshot | Exception] = iter([FIRST, error, error, SECOND, SECOND])

    def look(*_: object, **__: object) -> Snapshot:
        found = next(looks, None)
        if found is None:
            raise KeyboardInterrupt
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(display, "snapshot", look)
    out = Console(file=StringIO(), width=80, height=24, force_terminal=terminal, color_system=None)
    chosen = Chosen(name="ml", session=AwsSession(region="us-west-2"), config=None)
    with pytest.raises(KeyboardInterrupt):
        display.watch(chosen, console=out, seconds=1, sleep=lambda _: None)

    assert isinstance(out.file, StringIO)
    text = out.file.getvalue()
    if terminal:
        screens = text.split("ml in us-west-2")
        # Above what was seen last, until a look succeeds; at each error, and no longer.
        assert [screen.count("no network") for screen in screens[:4]] == [0, 1, 1, 0]
        assert text.count("no network") == 2
        assert "2 of 2" in text
    else:
        assert text.count("no network") == 1
        assert text.splitlines()[-1] == (
            "2026-11-01 00:00:10 a: 2 of 2 nodes, 1 healthy, InService"
        )

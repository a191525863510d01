"""The commands that do something to nodes: what they are given, and that they ask."""

from typing import Any

import pytest

from hyperpod_cli.operate.nodes import command
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE, Action
from tests.support.commands import run


@pytest.mark.parametrize("action", [DELETE, REBOOT, REPLACE], ids=lambda action: action.name)
def test_it_asks_and_waits_unless_it_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, action: Action
) -> None:
    given: list[tuple[tuple[object, ...], dict[str, Any]]] = []
    monkeypatch.setattr(command, "run", lambda *names, **options: given.append((names, options)))

    assert run(action.name, "worker/1", "worker/2") == 0
    assert run(action.name, "worker/1", "--yes", "--no-wait") == 0

    (names, asking), (_, sure) = given
    assert names == (action, ["worker/1", "worker/2"])
    assert (asking["yes"], asking["waits"]) == (False, True)
    assert (sure["yes"], sure["waits"]) == (True, False)

"""A run of the tests is never silent for long."""

from tests.support.heartbeat import Heartbeat
from tests.support.patience import PATIENCE_SECONDS, eventually


def test_a_line_is_written_while_no_test_ends() -> None:
    lines: list[str] = []
    heartbeat = Heartbeat(lines.append, seconds=0.01)
    heartbeat.begin()
    eventually(lambda: len(lines) > 2)
    heartbeat.pytest_sessionfinish()
    written = len(lines)

    assert lines[0] == "  ... 0 s"
    assert len(lines) == written


def test_a_test_that_ends_is_sign_enough() -> None:
    lines: list[str] = []
    heartbeat = Heartbeat(lines.append, seconds=PATIENCE_SECONDS)
    heartbeat.begin()
    heartbeat.pytest_runtest_logreport()
    heartbeat.pytest_sessionfinish()

    assert lines == []

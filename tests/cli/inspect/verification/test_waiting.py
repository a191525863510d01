"""Looking again until all holds."""

from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import (
    check_until_all_hold,
    not_looked_at,
    problems,
    summary,
)
from hyperpod_cli.terminal.errors import OpsError, TransientError


class Looks:
    """A deployment of three checks, of which one more holds at each look."""

    def __init__(self) -> None:
        self.count = 0
        self.time = 0.0
        self.said: list[str] = []

    def verify(self) -> list[Check]:
        self.count += 1
        return [Check(title=f"c{index}", ok=index < self.count) for index in range(3)]

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def held(self, *, seconds: float) -> bool:
        return all(check.ok for check in self.checks(self.verify, seconds=seconds))

    def checks(self, verify: Callable[[], list[Check]], *, seconds: float) -> list[Check]:
        return check_until_all_hold(
            verify,
            seconds=seconds,
            say=self.said.append,
            now=lambda: self.time,
            sleep=self.sleep,
        )


def test_once() -> None:
    looks = Looks()
    assert (looks.held(seconds=0), looks.count, looks.said) == (False, 1, [])


def test_until_all_holds() -> None:
    looks = Looks()
    assert (looks.held(seconds=600), looks.count, looks.time) == (True, 3, 30.0)
    assert looks.said == ["1 of 3 hold; waiting for: c1, c2", "2 of 3 hold; waiting for: c2"]


def test_until_the_deadline() -> None:
    looks = Looks()
    assert (looks.held(seconds=20), looks.count, looks.time) == (True, 3, 20.0)
    looks = Looks()
    assert (looks.held(seconds=10), looks.count, looks.time) == (False, 2, 10.0)


def test_not_for_what_cannot_be_looked_at() -> None:
    looks = Looks()
    unknown = not_looked_at("health", why="Kubernetes API: 401 Unauthorized; ask")
    assert looks.checks(lambda: [unknown], seconds=600) == [unknown]
    assert (looks.time, looks.said) == (0.0, [])


BUSY = ClientError({"Error": {"Code": "ServiceUnavailable", "Message": "busy"}}, "DescribeStacks")


@pytest.mark.parametrize(
    "error",
    [
        BUSY,
        ReadTimeoutError(endpoint_url="https://eks.us-west-2.amazonaws.com/"),
        TransientError("Kubernetes API: 503 Service Unavailable; run it again in a minute"),
    ],
)
def test_what_passes_is_looked_at_again(error: Exception) -> None:
    looks = Looks()
    errors = [error]

    def verify() -> list[Check]:
        if errors:
            raise errors.pop()
        return looks.verify()

    checks = looks.checks(verify, seconds=600)
    assert all(check.ok for check in checks)
    assert len(looks.said) == 3
    assert looks.said[0].startswith(("AWS: ", "Kubernetes API: 503"))


@pytest.mark.parametrize(
    ("error", "looked"),
    [
        # It lasts until the deadline.
        (BUSY, 3),
        (NoCredentialsError(), 1),
        (OpsError("stack: ml-platform is not deployed in us-west-2; run `make deploy`"), 1),
    ],
)
def test_what_stays_is_raised(error: Exception, looked: int) -> None:
    looks = Looks()

    def verify() -> list[Check]:
        looks.count += 1
        raise error

    with pytest.raises(type(error)):
        looks.checks(verify, seconds=20)
    assert looks.count == looked


def test_a_part_that_cannot_be_looked_at_now_is_looked_at_again() -> None:
    looks = Looks()
    busy = not_looked_at("health", why="Kubernetes API: 503", is_transient=True)
    found = [[Check(title="a", ok=True), busy], [Check(title="a", ok=True)]]
    checks = looks.checks(lambda: found.pop(0), seconds=600)
    assert (len(checks), looks.said) == (1, ["1 of 2 hold; waiting for: health"])


def test_what_is_not_known_is_told_apart_from_what_fails() -> None:
    unknown = not_looked_at("health", why="Kubernetes API: 401 Unauthorized; list your role")
    checks = [
        Check(title="a", ok=True),
        Check(title="b", ok=False, found="is not there", advice="Run it"),
        unknown,
    ]
    assert list(problems(checks)) == [
        "\nFAIL b",
        "  Found: is not there",
        "  Run it",
        "\n? health",
        "  Not looked at: Kubernetes API: 401 Unauthorized",
        "  List your role",
    ]
    assert [summary(checks[:count]) for count in (1, 2, 3)] == [
        "1 of 1 checks hold.",
        "1 of 2 checks hold.",
        "1 of 2 checks hold; not everything was looked at.",
    ]
    assert summary([unknown]) == "Nothing was checked."

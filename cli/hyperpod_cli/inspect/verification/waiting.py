"""Verifies a deployment until all holds, or a deadline has passed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cli.inspect.verification.check import Check, several
from hyperpod_cli.inspect.verification.verify import is_passing
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation

_PAUSE_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """Time, and how it passes.

    Attributes:
        now: Returns the seconds since some moment.
        sleep: Lets seconds pass.
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]


def held(
    verify: Callable[[], list[Check]],
    *,
    seconds: float,
    clock: Clock,
    say: Callable[[str], None],
) -> list[Check]:
    """Return the checks once all that can be looked at hold, or those of the last look.

    Args:
        verify: Looks at everything.
        seconds: How long to look again; 0 to look once.
        clock: Time.
        say: Gets a line whenever another number of checks holds.

    Raises:
        Exception: What `verify` raises, unless it may pass and there is time to look again.
    """
    deadline = clock.now() + seconds
    said = ""
    while True:
        try:
            checks = verify()
            line = _waiting(checks)
            pause = min(_PAUSE_SECONDS, deadline - clock.now())
            if not line or pause <= 0:
                return checks
        except (BotoCoreError, ClientError, OpsError) as error:
            pause = min(_PAUSE_SECONDS, deadline - clock.now())
            if not is_passing(error) or pause <= 0:
                raise
            line = explanation(error)
        if line != said:
            say(line)
            said = line
        clock.sleep(pause)


def _waiting(checks: Sequence[Check]) -> str:
    """Return what there is to wait for; empty if another look would find the same."""
    waiting = [
        check.check for check in checks if not check.ok and (check.is_known or check.may_pass)
    ]
    if not waiting:
        return ""
    held = sum(check.ok for check in checks)
    return f"{held} of {len(checks)} hold; waiting for: {several(waiting, most=2)}"

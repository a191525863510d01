"""Verifies a deployment until all holds, or a deadline has passed."""

from collections.abc import Callable
from dataclasses import dataclass

from hyperpod_ops.verification.check import Check, several

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
        Exception: What `verify` raises.
    """
    deadline = clock.now() + seconds
    said = ""
    while True:
        checks = verify()
        waiting = [check.check for check in checks if check.is_known and not check.ok]
        pause = min(_PAUSE_SECONDS, deadline - clock.now())
        if not waiting or pause <= 0:
            return checks
        line = f"{len(checks) - len(waiting)} of {len(checks)} hold; waiting for: " + several(
            waiting, most=2
        )
        if line != said:
            say(line)
            said = line
        clock.sleep(pause)

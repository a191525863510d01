"""Retries within limits, and the clock that they go by."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from provisioner.framework import log

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

FIRST_DELAY_SECONDS = 2.0
LONGEST_DELAY_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time and sleep, in seconds; tests pass their own.

    Attributes:
        now: Seconds since the epoch. Default: the system's clock.
        sleep: Waits for so many seconds. Default: `time.sleep`.
        remaining: Seconds until Lambda stops the function.
    """

    remaining: Callable[[], float]
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def retried(
    call: Callable[[], T],
    *,
    errors: tuple[type[E], ...],
    patience: Callable[[E], float],
    clock: Clock,
    reserve_seconds: float = 20.0,
) -> T:
    """Call until it succeeds, an error stays, or patience or the function's time runs out.

    Args:
        call: What to do; must be safe to repeat.
        errors: Exception types that may be worth another attempt.
        patience: How many seconds after the first attempt such an error is still retried;
            0 for an error that stays.
        clock: Time and sleep.
        reserve_seconds: Time kept for what follows the call. Default: 20 s.

    Raises:
        Exception: The last error of the call.
    """
    started = clock.now()
    delay = FIRST_DELAY_SECONDS
    while True:
        try:
            return call()
        except errors as error:
            give_up = started + patience(error)
            if clock.now() + delay > give_up or clock.remaining() < delay + reserve_seconds:
                raise
            log.info("retrying", cause=str(error), delay_seconds=delay)
        clock.sleep(delay)
        delay = min(delay * 2, LONGEST_DELAY_SECONDS)

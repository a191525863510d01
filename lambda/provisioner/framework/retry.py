"""Retries within limits, and the clock that they go by."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from hyperpod_shared.aws_errors import AWS_ERRORS, code, is_denied, is_transient, is_unreached
from hyperpod_shared.errors import UnreachableError
from provisioner.framework import log

Answer = Mapping[str, Any]
"""What AWS answers to a call."""
T = TypeVar("T")
E = TypeVar("E", bound=Exception)

ACCESS_DENIED_PATIENCE_SECONDS = 45.0
ROLE_PATIENCE_SECONDS = 120.0
THROTTLING_PATIENCE_SECONDS = 90.0
UNREACHED_PATIENCE_SECONDS = 30.0
"""Of a service that no connection is made to: each call has tried four times, for 5 s each."""
# A role is usable only some seconds after IAM returned it; until then a service says in words that
# it cannot assume the role.
_ROLE_UNUSABLE = re.compile(
    r"(?is)assume.{0,80}role|role.{0,200}(assum|trust|not exist|propagat|not valid|invalid)"
)

FIRST_DELAY_SECONDS = 2.0
LONGEST_DELAY_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time and sleep, in seconds; what remains ends when Lambda stops the function."""

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

    The call must be safe to repeat. The patience is how many seconds after the first attempt such
    an error is still retried, 0 for one that stays; the reserve is time for what follows the call.

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


def aws_retried(call: Callable[[], T], *, clock: Clock) -> T:
    """Call AWS again while the error is one that passes by itself.

    Raises:
        ClientError: The service refused.
        BotoCoreError: The call did not reach the service.
    """
    return retried(call, errors=AWS_ERRORS, patience=aws_patience, clock=clock)


def aws_patience(error: Exception) -> float:
    """Return for how many seconds the call is worth repeating; 0 for an error that will stay."""
    if is_unreached(error):
        return UNREACHED_PATIENCE_SECONDS
    if is_transient(error):
        return THROTTLING_PATIENCE_SECONDS
    if is_denied(error):
        return ACCESS_DENIED_PATIENCE_SECONDS
    if code(error) == "ValidationException" and _ROLE_UNUSABLE.search(str(error)):
        return ROLE_PATIENCE_SECONDS
    return 0.0


def aws_pages(
    list_page: Callable[..., Answer], *, call: Callable[[Callable[[], Answer]], Answer]
) -> Iterator[Answer]:
    """Yield the pages of a list.

    `call` makes each call, and may retry.

    Raises:
        UnreachableError: The service answers with the same NextToken again.
    """
    page = call(list_page)
    yield page
    while token := page.get("NextToken"):
        page = call(partial(list_page, NextToken=token))
        if page.get("NextToken") == token:
            raise UnreachableError(
                "A paginated list from AWS does not end", next_step="See the AWS Health Dashboard."
            )
        yield page

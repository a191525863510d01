"""Times and lengths of time as text."""

import re
from datetime import UTC, datetime, timedelta

from hyperpod_cli.terminal.errors import OpsError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST = timedelta(days=366)


def in_utc(moment: datetime) -> str:
    """Return a time as it is shown: to the second, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def parsed_duration(text: str, *, option: str) -> timedelta:
    """Return a length of time.

    Args:
        text: A number and a unit, such as 30m.
        option: The option that it was given with.

    Raises:
        OpsError: It is no length of time, or longer than a year.
    """
    found = re.fullmatch(r"(\d{1,9})([smhd])", text)
    length = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None
    if length is not None and length > _LONGEST:
        raise OpsError(f"{option}: {text!r} must be at most {_LONGEST.days}d")
    if length is None:
        raise OpsError(f"{option}: {text!r} must be a number and s, m, h or d, such as 30m or 2d")
    return length

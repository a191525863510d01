"""Failures as users see them: what failed, why, and what to do next."""

import re

from hyperpod_shared.redaction import redacted

MESSAGE_LIMIT_BYTES = 990
"""CloudFormation's response must fit 4,096 bytes, and the provider framework adds its own lines.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
"""

_WHAT_LIMIT_BYTES = 400
_NEXT_STEP_LIMIT_BYTES = 400  # room for a command with an ARN in it
_ELLIPSIS = " … "
# What is left of a word that was cut; an ARN is too long to lose.
_CUT_END, _CUT_START = re.compile(r" \S{0,20}$"), re.compile(r"^\S{0,20} ")


class ProvisioningError(Exception):
    """A failure whose text CloudFormation shows: one line, at most `MESSAGE_LIMIT_BYTES`.

    Args:
        what: What failed and where, without a full stop.
        detail: The cause as AWS, helm or Kubernetes reported it; shortened in the middle if long.
            Default: none.
        next_step: What the user should do, as a sentence.
        secrets: Texts that must not appear in the message. Default: none.
    """

    def __init__(
        self, what: str, *, next_step: str, detail: str = "", secrets: frozenset[str] = frozenset()
    ) -> None:
        head = _clipped(_clean(what, secrets), _WHAT_LIMIT_BYTES)
        tail = _clipped(_clean(next_step, secrets), _NEXT_STEP_LIMIT_BYTES)
        room = MESSAGE_LIMIT_BYTES - len(f"{head}: . {tail}".encode())
        cause = _clipped(_clean(detail, secrets).rstrip("."), room)
        super().__init__(f"{head}: {cause}. {tail}" if cause else f"{head}. {tail}")


class UnreachableError(ProvisioningError):
    """An API could not be reached for now; `is_complete` tries again at the next poll."""


class NotReadyError(UnreachableError):
    """What a resource needs is there and not ready yet, as CloudFormation's express mode has it."""


class CarriedFailure(ProvisioningError):
    """A failure that was found before and `is_complete` raises.

    When `on_event` raises on Create, CDK's provider framework ignores the Delete that follows, and
    a half-made resource would be left behind. See ADR 12.
    """

    def __init__(self, text: str) -> None:
        Exception.__init__(self, one_line(text))


def given_up(error: UnreachableError, *, waited_seconds: float) -> CarriedFailure:
    """Return the failure of a request that has waited in vain."""
    return CarriedFailure(f"Waited for {waited_seconds / 60:.0f} minutes. {error}")


def one_line(text: str) -> str:
    """Return the text as a message: one line, short enough, without credentials."""
    return shortened(text, MESSAGE_LIMIT_BYTES)


def shortened(text: str, limit_bytes: int) -> str:
    """Return the text in one line without credentials, shortened in the middle if it is long."""
    return _clipped(_clean(text, frozenset()), limit_bytes)


def _clean(text: str, secrets: frozenset[str]) -> str:
    return " ".join(redacted(text, secrets=secrets).split())


def _clipped(text: str, limit_bytes: int) -> str:
    raw = text.encode()
    if len(raw) <= limit_bytes:
        return text
    room = limit_bytes - len(_ELLIPSIS.encode())
    tail = room // 3
    start = raw[: room - tail].decode(errors="ignore")
    end = raw[len(raw) - tail :].decode(errors="ignore")
    return f"{_CUT_END.sub('', start)}{_ELLIPSIS}{_CUT_START.sub('', end)}"

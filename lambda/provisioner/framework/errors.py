"""The one kind of failure a user sees: what failed, why, and what to do next."""

from provisioner.framework.redaction import redacted

MESSAGE_LIMIT_BYTES = 990
"""CloudFormation's whole response must fit 4,096 bytes and the framework adds its own lines."""

_WHAT_LIMIT_BYTES = 400
_NEXT_STEP_LIMIT_BYTES = 300
_ELLIPSIS = " … "


class ProvisioningError(Exception):
    """A failure whose text goes to CloudFormation as it is: one line, under 1,000 characters.

    Args:
        what: What failed and where, without a full stop.
        detail: The cause in the words of whoever reported it; shortened in the middle if long.
        next_step: What the user should do, as a full sentence.
        secrets: Texts that must not appear in the message.
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
    """Something could not be reached for now; ``is_complete`` tries again at the next poll."""


class CarriedFailure(ProvisioningError):
    """A failure found by ``on_event`` and raised by ``is_complete``, already worded.

    When ``on_event`` raises on Create the provider framework ignores the later Delete, so a
    half-made resource would be left behind; carrying the text over keeps the Delete coming.
    """

    def __init__(self, text: str) -> None:
        Exception.__init__(self, one_line(text))


def one_line(text: str) -> str:
    """Return the text as a message may carry it: one line, short enough, without credentials."""
    return _clipped(_clean(text, frozenset()), MESSAGE_LIMIT_BYTES)


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
    return f"{start}{_ELLIPSIS}{end}"

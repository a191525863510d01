"""What a command cannot do, and its exit code."""

FAILED = 1
"""Exit code of what was begun and did not succeed."""
DECLINED = 3
"""Exit code of a question that was answered with no."""
REFUSED = 2
"""Exit code for input that cannot be used, and for what would do harm."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as of shells."""


class OpsError(Exception):
    """Something that cannot be done: one line with what, where, and what to do."""

    code = REFUSED
    """Exit code of the command that raises it."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What is shown of it."""
        return (" ".join(str(self).split()),)


class LinesError(OpsError):
    """Several things that cannot be done: a line for each."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What is shown of it."""
        return tuple(str(self).splitlines())


class FailedError(OpsError):
    """A step of the command's own work failed; one line that says why."""

    code = FAILED

    @property
    def lines(self) -> tuple[str, ...]:
        """What is shown of it."""
        return tuple(f"error: {line}" for line in super().lines)


class TransientError(OpsError):
    """What may be done a minute later: a server is throttled, overloaded or being replaced."""

"""What a command cannot do, and its exit code."""

REFUSED = 2
"""Exit code for input that cannot be used, and for what would do harm."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as of shells."""


class OpsError(Exception):
    """Something that cannot be done: one line with what, where, and what to do."""


class PassingError(OpsError):
    """What may be done a minute later: a server is throttled, overloaded or being replaced."""

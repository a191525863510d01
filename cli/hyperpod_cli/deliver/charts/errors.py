"""The error of the chart packaging."""

from hyperpod_cli.terminal.errors import FailedError


class ChartError(FailedError):
    """Packaging failed; the message is one line: what, where, what to do."""

"""The error of the chart packaging."""


class ChartError(Exception):
    """Packaging failed; the message is one line: what, where, what to do."""

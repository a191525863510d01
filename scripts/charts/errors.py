"""The one error that a user of the chart packaging sees."""


class ChartError(Exception):
    """Packaging cannot go on; the message is one line: what, where, what to do."""

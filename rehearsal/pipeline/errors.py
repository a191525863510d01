"""Why a pipeline cannot be rehearsed."""


class UnplayableError(Exception):
    """A pipeline cannot be rehearsed; one line that says why."""

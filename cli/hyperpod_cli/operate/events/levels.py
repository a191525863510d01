"""How grave an event is."""

from enum import StrEnum


class Level(StrEnum):
    """SageMaker's levels of events, from the least."""

    INFO = "Info"
    WARN = "Warn"
    ERROR = "Error"

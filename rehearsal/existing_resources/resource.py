"""A resource that a configuration names and no deployment makes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from emulator.aws.local_aws import AwsClients


@dataclass(frozen=True, slots=True)
class ExistingResource:
    """A resource; those of the same text are the same.

    Attributes:
        text: What it is.
        make: Creates it unless it is there.
    """

    text: str
    make: Callable[[AwsClients], None] = field(compare=False)

    def __str__(self) -> str:
        return self.text

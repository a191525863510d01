"""A resource that a configuration names and no deployment makes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hyperpod_emulator.aws.local_aws import AwsClients


@dataclass(frozen=True, slots=True)
class ExistingResource:
    """A resource, and what creates it unless it is there; those of the same text are the same."""

    text: str
    make: Callable[[AwsClients], None] = field(compare=False)

    def __str__(self) -> str:
        return self.text

"""How an operation on stacks ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperpod_cli.aws.stack_events import StackEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of an operation.

    Attributes:
        code: Exit code of the command; 130 after Ctrl-C.
        events: Events of each stack since it began, without those of nested stacks.
        messages: Lines that say why it failed, or what goes on after Ctrl-C; empty for a success.
    """

    code: int
    events: Mapping[str, Sequence[StackEvent]]
    messages: Sequence[str] = ()

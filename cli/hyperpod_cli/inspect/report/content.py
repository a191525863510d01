"""What a report tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hyperpod_cdk.cost.charges import Cost
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.inspect.verification.check import Check


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One deployment, whatever came of it.

    Attributes:
        command: What the user ran, or would.
        assembly: Directory of the templates.
        events: Events of each stack since it began.
        messages: What was said at the terminal of its failure or interruption; empty for a success.
    """

    command: str
    assembly: Path
    events: Mapping[str, Sequence[StackEvent]]
    messages: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """All that a report tells.

    Attributes:
        title: What it is about.
        verdict: What came of it, in a sentence.
        ok: Whether that is as it should be.
        written: When.
        facts: What else to know at the top, by name.
        assembly: Directory of the templates that are drawn.
        attempts: The deployments, the first first.
        errors: Lines of what went wrong outside of a deployment.
        outputs: Outputs of each stack.
        checks: What was verified afterwards.
        following: Lines of the terminal that say what to run next.
        cost: What the deployment costs.
    """

    title: str
    verdict: str
    ok: bool
    written: datetime
    facts: Mapping[str, str]
    assembly: Path
    cost: Cost
    attempts: Sequence[Attempt] = ()
    errors: Sequence[str] = ()
    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    following: Sequence[str] = ()

"""The report as a page: one file, without a script, that reads nothing from elsewhere."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from hyperpod_cdk import Config
from hyperpod_cdk.cost.charges import Cost
from hyperpod_cdk.schema.errors import one_line
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import is_repeated
from hyperpod_cli.inspect.cost import UNITS, summary, what
from hyperpod_cli.inspect.diagram.picture import picture
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import summary as summary_of_checks
from hyperpod_cli.stack_progress.progress import StackProgress, duration, progress_of
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_cli.terminal.console import rounded
from hyperpod_shared.redaction import redacted
from hyperpod_stacks.table import description


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One deployment, by the command that the user ran, or would, whatever came of it.

    Messages are what was said at the terminal of its failure or interruption; none of a success.
    """

    command: str
    events: Mapping[str, Sequence[StackEvent]]
    messages: Sequence[str] = ()

    @property
    def stacks(self) -> Mapping[str, StackProgress]:
        """What became of each stack on which CloudFormation worked."""
        stacks = {name: progress_of(events) for name, events in self.events.items()}
        return {name: stack for name, stack in stacks.items() if stack.status}


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """All that a report tells; `following` are the terminal's lines that say what to run next."""

    title: str
    verdict: str
    ok: bool
    written: datetime
    facts: Mapping[str, str]
    config: Config
    cost: Cost
    attempts: Sequence[Attempt] = ()
    errors: Sequence[str] = ()
    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    following: Sequence[str] = ()


TEMPLATE = Path(__file__).with_name("page.html")
_COMMAND = "  "
_CODE = re.compile(r"`([^`]+)`")
# Below it, tenths of a second are worth reading.
_SHORT_SECONDS = 10


def write(content: Content, path: Path) -> str | None:
    """Write a report; return why it cannot be written, or None.

    Who reads the file sees the former one or this one. It shows what templates hold, whatever that
    is, and what became of a deployment does not depend on it.
    """
    try:
        replace_file(path, page(content), mode=PUBLIC)
    except (LookupError, OSError, ValueError) as error:
        return f"{type(error).__name__}: {one_line(error)}"
    return None


def page(content: Content) -> str:
    """Return a report as HTML."""
    return (
        _environment()
        .get_template(TEMPLATE.name)
        .render(
            content=content,
            picture=_image(content.config),
            words=[" ".join(line.split()) for line in description(content.config)],
            attempts=content.attempts,
            failures=[attempt for attempt in content.attempts if attempt.messages],
            outputs={stack: _shown(values) for stack, values in content.outputs.items()},
            checks=sorted(content.checks, key=lambda check: (check.ok, not check.is_known)),
            checks_summary=summary_of_checks(content.checks),
            has_problems=any(not check.ok for check in content.checks if check.is_known),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATE.parent),
        autoescape=True,
        finalize=_without_secrets,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "blocks": _blocks,
        "breakable": _breakable,
        "cost_summary": summary,
        "price_unit": UNITS.__getitem__,
        "rounded": rounded,
        "took": _took,
        "what": what,
        "with_code": _with_code,
    }
    return environment


def _without_secrets(value: object) -> object:
    """Return what is written for a value; the errors of AWS may hold signed URLs."""
    return value if isinstance(value, Markup) else redacted(str(value))


def _image(config: Config) -> str:
    """Return the picture as an image in an address, where it runs nothing."""
    return f"data:image/svg+xml;base64,{base64.b64encode(picture(config).encode()).decode()}"


def _shown(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if not is_repeated(name, values)}


def _blocks(lines: Iterable[str]) -> list[tuple[bool, list[str]]]:
    """Return lines of the terminal in groups: commands, which are indented, and sentences."""
    single = (part for line in lines for part in line.splitlines() if part.strip())
    return [
        (is_command, [line.strip() for line in group])
        for is_command, group in groupby(single, key=lambda line: line.startswith(_COMMAND))
    ]


def _breakable(words: str) -> Markup:
    """Return a name that may be broken where a reader would: after a `/`, a `_` or a `:`."""
    escaped = Markup.escape(redacted(words))
    for mark in ("/", "_", "::"):
        escaped = Markup(escaped.replace(mark, Markup(f"{mark}<wbr>")))  # noqa: S704 - escaped
    return escaped


def _with_code(words: str) -> Markup:
    """Return a text in which what stands between backticks is code."""
    escaped = str(Markup.escape(redacted(words)))
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))  # noqa: S704 - escaped


def _took(time: timedelta) -> str:
    seconds = time.total_seconds()
    return f"{seconds:.1f} s" if seconds < _SHORT_SECONDS else duration(seconds)

"""Pictures of what `hyperpod-cdk` prints: `python -m tests.support.terminal_pictures`.

Each is of a real command on a rehearsed deployment, as a terminal of 80 columns shows it. What
differs each time, such as IDs and times, gets values of the same length, so that a picture stays
as it is until a command prints something else.
"""

import hashlib
import io
import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from unittest.mock import patch

from rich.console import Console
from rich.text import Text

from hyperpod_cli.main import app
from hyperpod_cli.operate.clusters import nodes_of
from hyperpod_cli.terminal.console import VisibleConsole
from hyperpod_emulator.hyperpod.simulation.faults import Faults
from hyperpod_rehearsal.commands import WORK_DIRECTORY, rehearse
from hyperpod_rehearsal.kept_rehearsal import operator_credentials
from hyperpod_rehearsal.verification import wait_for_nodes
from tests.support.configs import REPOSITORY
from tests.support.operator import Operator
from tests.support.stages import bootstrapped_stage

FOLDER = REPOSITORY / "docs" / "terminal"
GROUP = "worker-group-1"
_WIDTH, _WIDE = 80, 110
_ID = re.compile(r"\b(fs|i|nat|rtb|sg|subnet|vpc)-[0-9a-f]{17}\b")
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SOME_TIME = "2026-01-15T09:30:00Z"
_OK = re.compile(r"^ok\b|\bok$")
_SHOWN = 2
_FONT_RATIO = 0.6
# As rich has it, but without its web font: GitHub loads none, and it is not this project's.
_SVG = """\
<svg class="{unique_id}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix, .{unique_id}-title {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}}
.{unique_id}-matrix {{ font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

Situation = Callable[[Operator], AbstractContextManager[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A picture.

    Attributes:
        command: The command.
        situation: What holds meanwhile.
        typed: What somebody types.
    """

    command: str
    situation: Situation
    typed: str = ""


def _kubectl(operator: Operator, arguments: str) -> str:
    succeeded, output = operator.stage.tools.run(f"kubectl {arguments}")
    assert succeeded, output
    return output


def _node(operator: Operator) -> str:
    sagemaker = operator.stage.environment.clients("sagemaker")
    (node,) = nodes_of(sagemaker, operator.stage.config.cluster.name, group=GROUP)
    return node.kubernetes_name


@contextmanager
def _as_it_is(_operator: Operator) -> Iterator[None]:
    """Leave everything as it is."""
    yield


@contextmanager
def _missing_priority(operator: Operator) -> Iterator[None]:
    """Have somebody delete a priority class."""
    found = json.loads(_kubectl(operator, "get priorityclass training -o json"))
    kept = ("name", "labels", "annotations")
    found["metadata"] = {key: found["metadata"][key] for key in kept if key in found["metadata"]}
    _kubectl(operator, "delete priorityclass training")
    yield
    _create(operator, found)


@contextmanager
def _quota_of_none(operator: Operator) -> Iterator[None]:
    """Have an account that may use no instance of a type."""
    hyperpod = operator.stage.environment.hyperpod
    before = hyperpod.faults
    hyperpod.faults = Faults(quotas={operator.stage.config.cluster.instance_types[0]: 0})
    yield
    hyperpod.faults = before


@contextmanager
def _training(operator: Operator) -> Iterator[None]:
    """Have a pod of a user run on a node."""
    spec = {
        "nodeName": _node(operator),
        "containers": [{"name": "train", "image": "train"}],
    }
    _create(
        operator, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-0"}, "spec": spec}
    )
    yield
    _kubectl(operator, "delete pod train-0 --now")


def _create(operator: Operator, document: Mapping[str, object]) -> None:
    file = operator.home / "created.json"
    file.write_text(json.dumps(document), "utf-8")
    _kubectl(operator, f"create -f {file}")


PICTURES: Mapping[str, Picture] = {
    "status": Picture(command="hyperpod-cdk status", situation=_as_it_is),
    "verify": Picture(command="hyperpod-cdk verify", situation=_missing_priority),
    # Whoever draws it has other tools than the next one.
    "preflight": Picture(
        command="hyperpod-cdk preflight --skip client-tools", situation=_quota_of_none
    ),
    "replace": Picture(command=f"hyperpod-cdk replace {GROUP}/1", situation=_training, typed="n\n"),
}
"""Each by the name of its file."""


def drawn(name: str, operator: Operator) -> str:
    """Return a picture of today as an SVG; the deployment is afterwards as it was.

    Args:
        name: Its name.
        operator: Who runs the command.
    """
    wanted = PICTURES[name]
    with wanted.situation(operator):
        shown = printed(operator, *shlex.split(wanted.command)[1:], typed=wanted.typed)
    console = recording_console(_WIDTH)
    # Below the last line, an SVG of rich has no room for the tails of letters.
    console.print(Text.from_ansi(shortened(settled(shown)).rstrip()), end="\n\n")
    return picture(console, title=wanted.command, name=name)


def recording_console(width: int) -> Console:
    """Return a console that keeps what it prints, and shows no spinner, which a picture cannot."""
    return VisibleConsole(file=io.StringIO(), record=True, force_terminal=False, width=width)


def picture(console: Console, *, title: str, name: str) -> str:
    """Return what a console kept as an SVG, whose styles have a name."""
    return console.export_svg(
        title=title, code_format=_SVG, font_aspect_ratio=_FONT_RATIO, unique_id=name
    )


def draw_rehearsal(config: Path, *, file: Path, work_directory: Path = WORK_DIRECTORY) -> None:
    """Rehearse a configuration, and draw what that prints."""
    console = recording_console(_WIDE)
    assert rehearse(config, work_directory=work_directory, console=console) == 0
    console.print()
    drawing = picture(console, title=f"hyperpod-cdk rehearse {config}", name="rehearsal")
    file.write_text(drawing, "utf-8")


class _Keyboard(io.StringIO):
    """What somebody types at a terminal, which shows it."""

    def __init__(self, typed: str, *, screen: io.StringIO) -> None:
        super().__init__(typed)
        self._screen = screen

    def isatty(self) -> bool:
        return True

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override] # as of StringIO
        line = super().readline(size)
        self._screen.write(line)
        return line


def printed(operator: Operator, *arguments: str, typed: str = "") -> str:
    """Return what a command prints on a terminal, with its colors.

    Args:
        operator: Who runs it.
        arguments: Of `hyperpod-cdk`.
        typed: What somebody types.
    """
    screen = io.StringIO()
    terminal = {"COLUMNS": str(_WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    with (
        patch.dict(os.environ, {**operator.environment(), **terminal}),
        patch("sys.stdin", _Keyboard(typed, screen=screen)),
        redirect_stdout(screen),
    ):
        app()([*arguments], standalone_mode=False)
    return screen.getvalue()


def settled(text: str) -> str:
    """Return a text in which IDs and times are fixed ones, as long as they were."""
    found: dict[str, str] = {}

    def fixed(match: re.Match[str]) -> str:
        kind, number = match[1], len(found)
        digest = hashlib.sha256(f"{kind}{number}".encode()).hexdigest()[:17]
        return found.setdefault(match[0], f"{kind}-{digest}")

    own = text.replace(f"{REPOSITORY}/", "")
    return _TIME.sub(_SOME_TIME, _ID.sub(fixed, own))


def shortened(text: str) -> str:
    """Return a text in which `…` stands for most of the lines in a row that say ok."""
    lines: list[str] = []
    for is_ok, run in groupby(text.splitlines(), key=_says_ok):
        some = [*run]
        is_long = is_ok and len(some) > 2 * _SHOWN
        lines += [*some[:_SHOWN], "…", *some[-_SHOWN:]] if is_long else some
    return "\n".join(lines)


def _says_ok(line: str) -> bool:
    return _OK.search(Text.from_ansi(line).plain) is not None


def main() -> None:
    """Rehearse, deploy, and draw every picture."""
    docs = FOLDER.parent
    draw_rehearsal(Path("config/default.yaml"), file=docs / "rehearsal.svg")
    draw_rehearsal(
        Path("config/slurm.yaml"),
        file=docs / "rehearsal-slurm.svg",
        work_directory=Path("build/rehearsal-slurm"),
    )
    training = Path("build/rehearsal-training")
    rehearse(Path("config/default.yaml"), scenario="training-survives", work_directory=training)
    shutil.copy(training / "training.svg", docs / "training-survives.svg")
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        bootstrapped_stage(Path(folder)) as stage,
    ):
        told = stage.deploy_first()
        assert told is None, told
        wait_for_nodes(stage.config, clients=stage.environment.clients)
        home = Path(folder) / "home"
        home.mkdir()
        operator = Operator(stage=stage, home=home, credentials=operator_credentials(stage))
        for name in PICTURES:
            (FOLDER / f"{name}.svg").write_text(drawn(name, operator), "utf-8")


if __name__ == "__main__":
    main()

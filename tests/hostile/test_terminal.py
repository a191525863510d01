"""What is not this project's never controls a terminal, whichever command shows it."""

import ast
import errno
import io
import json
import logging
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.client
import pytest
import typer
from botocore.exceptions import ClientError
from rich.live import Live
from rich.table import Table

from hyperpod_cli.aws import cdk_cli
from hyperpod_cli.commands import commands
from hyperpod_cli.terminal.console import VisibleConsole, console, print_json, shown, styled
from hyperpod_cli.terminal.output import Output, visible
from tests.support.commands import cdk_program, desk, run, run_only
from tests.support.configs import CONFIG_FOLDER, REPOSITORY

CONTROLS = [
    *map(chr, {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}),
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    # Marks of direction, joiners, spaces without width, a soft hyphen, fillers, ends of lines.
    *"\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\u180e\u3164\u2800\u2028\u2029",
    # Tags, which hide a text in a text, and what annotates one.
    *"\U000e0041\U000e007f\ufff9\U000110bd\U0001d173",
]
# Clears the screen, writes to the clipboard, makes a link, a bell, C1's CSI, and turns text around.
HOSTILE = "no\x1b[2J\x1b]52;c;QQ==\x07\x1b]8;;http://x\x1b\\\x9b31m\x7f\u202edne\u2066"


def is_clean(text: str) -> bool:
    return not {*CONTROLS} & {*text}


@pytest.mark.parametrize("character", CONTROLS, ids=ascii)
def test_a_control_character_is_shown(character: str) -> None:
    assert visible(f"a{character}\tb\n") == "a" + ascii(character)[1:-1] + "\tb\n"


def test_other_text_stays() -> None:
    text = "✅ ml-platform: 東京\u00a0é ⚠\ufe0f 💻 שלום مرحبا ├──\t\n"
    assert visible(text) == text
    assert visible("\ud83d") == r"\ud83d"


def printed_table() -> None:
    table = Table()
    table.add_column("reason")
    table.add_row(HOSTILE)
    console().print(table)


@dataclass(frozen=True)
class Row:
    """What AWS says of something, as commands list it."""

    reason: str


def live() -> None:
    out = VisibleConsole(force_terminal=True)
    with Live(HOSTILE, console=out, auto_refresh=False):
        pass


def refused(*_: object) -> None:
    error: Any = {"Error": {"Code": "AccessDenied", "Message": HOSTILE}}
    raise ClientError(error, "DescribeStacks")


WAYS: dict[str, Callable[[], object]] = {
    "print": lambda: print(HOSTILE),  # noqa: T201
    "standard error": lambda: print(HOSTILE, file=sys.stderr),  # noqa: T201
    "writelines": lambda: sys.stdout.writelines([HOSTILE]),
    "echo": lambda: typer.echo(HOSTILE),
    "echo of an error": lambda: typer.echo(HOSTILE, err=True),
    "console": lambda: console(soft_wrap=True).print(HOSTILE),
    "styled": lambda: console(soft_wrap=True).print(styled(HOSTILE, "red")),
    "table": printed_table,
    "rows": lambda: shown([Row(reason=HOSTILE)], as_json=False, empty=""),
    "live": live,
    "error": refused,
    "log": lambda: logging.getLogger("of a library").error(HOSTILE),
    "lines of the CDK CLI": lambda: cdk_cli.cdk("synth", config=Path("mine.yaml"), shows=False),
}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_print_shows_control_characters(
    way: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    # With colors, where they are asked for.
    monkeypatch.setenv("FORCE_COLOR", "1")

    run_only(WAYS[way])

    out, err = capsys.readouterr()
    # What rich writes for its own part: a color, and the cursor of a live display.
    text = re.sub(r"\x1b\[(31m|0m|1m|\?25[lh]|1A|2K)|\r(?=\x1b)", "", out + err)
    assert is_clean(text)
    assert "\\x1b]52;c;" in text


RED = styled("red", "red")


def test_colors_of_the_project_and_of_the_cdk_stay(capsys: pytest.CaptureFixture[str]) -> None:
    run_only(lambda: VisibleConsole(force_terminal=True, color_system="standard").print(RED))

    out = capsys.readouterr().out
    assert out.startswith("\x1b[31mred\x1b[0m\n")
    assert cdk_cli._in_its_colors("\x1b[31m-\x1b[39m\x1b[8m") == "\x1b[31m-\x1b[39m\\x1b[8m"


def test_json_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    run_only(lambda: print_json({"reason": HOSTILE}))
    assert json.loads(capsys.readouterr().out) == {"reason": HOSTILE}


def test_only_one_console_is_made() -> None:
    """What makes another console or text of rich would go around what shows control characters."""
    made = {
        f"{path.relative_to(REPOSITORY)}: {node.func.id}"
        for folder in ("cli", "rehearsal")
        for path in (REPOSITORY / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("Console", "Text")
    }
    assert made == {"cli/hyperpod_cli/terminal/console.py: Text"}


# A command that needs words; the others are run with their options alone.
WORDS = {
    "archive": ["deployed.zip"],
    "connect": ["worker-group-1", "--print"],
    "cost": ["--actual"],
    "dashboards": ["--grafana", "deployed"],
    "delete": ["worker-group-1", "--yes"],
    "deploy": ["--yes"],
    "destroy": ["--yes"],
    "image": ["build"],
    "logs": ["worker-group-1"],
    "reboot": ["worker-group-1", "--yes"],
    "record": ["on"],
    "release": ["i-0123456789abcdef0", "--yes"],
    "replace": ["worker-group-1", "--yes"],
    "review": ["assembly", "output"],
    "scale": ["worker-group-1", "3"],
    "train": ["--values", "llama2-7b-g5", "--group", "worker-group-1", "--yes"],
}
OF = {
    "cost": "examples/observability-prometheus.yaml",
    "dashboards": "examples/managed-grafana.yaml",
    "image": "examples/workloads.yaml",
}
"""The configuration of a command that does nothing with the default one."""
OF_KUBERNETES = "asks Kubernetes, which no one reaches here"
SILENT = {
    "addon-versions": "shows versions that the answer has as this project pins them",
    "archive": "writes what it reads into a file",
    "cost": "reads outputs by their names",
    "cluster-config": "reads outputs by their names",
    "dashboards": "reads outputs by their names",
    "idle": OF_KUBERNETES,
    "image": "reads outputs by their names",
    "pipeline": "describes no pipeline",
    "record": "looks at the provisioner's functions alone",
    "rehearse-change": "runs in a checkout",
    "release": OF_KUBERNETES,
    "review": "reads what a pipeline has synthesized",
    "scale": "names its own stacks",
    "train": OF_KUBERNETES,
    "validate-nodes": OF_KUBERNETES,
}
"""The commands that call AWS and show no answer here."""
# They write files, or ask AWS nothing.
APART = {
    "bootstrap",
    "charts",
    "charts-check",
    "diagram",
    "images",
    "init",
    "quota",
    "templates",
    "validate",
}


def answer(client: Any, operation: str, _: object) -> Any:  # noqa: ANN401
    """Return what a call answers by its service's model, with text to control a terminal."""
    output = client.meta.service_model.operation_model(operation).output_shape
    return {} if output is None else value(output, name="")


def value(shape: Any, *, name: str, depth: int = 0) -> Any:  # noqa: ANN401
    """Return a value of a shape; its texts are hostile, unless there are but some."""
    kind = shape.type_name
    if kind == "structure":
        return {
            key: value(member, name=key, depth=depth + 1)
            for key, member in shape.members.items()
            if depth < 9 and key.lower() != "nexttoken" and key != "NextMarker"
        }
    if kind == "list":
        return [value(shape.member, name=name, depth=depth + 1)]
    if kind == "map":
        return {}
    return scalar(shape, kind=kind, name=name)


def scalar(shape: Any, *, kind: str, name: str) -> Any:  # noqa: ANN401
    """Return a value that holds no other."""
    if kind == "string":
        words = {
            "InstanceGroupName": "worker-group-1",
            "InstanceId": "i-0123456789abcdef0",
            "Key": "aws:cloudformation:stack-id",
            "OutputKey": "EKSClusterName",
            "data": "",
            "endpoint": "https://127.0.0.1:1",
            "version": "1.33",
            "clusterVersion": "1.33",
        }
        if name.endswith(("Arn", "arn", "StackId")):
            return f"arn:aws:x:us-west-2:111122223333:cluster/{HOSTILE}"
        first = next(iter(getattr(shape, "enum", None) or ()), HOSTILE)
        return words.get(name, first)
    if kind == "timestamp":
        return datetime.now(UTC)
    return {"boolean": True, "blob": b"", "float": 1.0, "double": 1.0}.get(kind, 1)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder like the project's, whose CDK CLI says what would control a terminal."""
    folder = desk(tmp_path, chart=None)
    script = f"#!{sys.executable}\nimport sys\nsys.stderr.write({HOSTILE!r})\nsys.exit(1)\n"
    cdk_program(folder, script)
    (folder / "Makefile").touch()
    monkeypatch.chdir(folder)


@pytest.mark.slow(seconds=15)
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("says", "shown"), [(answer, r"\x1b"), (refused, r"\x1b]52")])
@pytest.mark.parametrize("name", sorted({*commands()} - APART))
def test_nothing_that_aws_says_controls_the_terminal(
    name: str,
    says: Callable[..., object],
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", says)
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "x")
    # Answers of every member at once, as AWS gives none, may be too much for a command.
    with suppress(Exception):
        run(name, *WORDS.get(name, ()), "--config", CONFIG_FOLDER / OF.get(name, "default.yaml"))
    text = "".join(capfd.readouterr())
    assert is_clean(text)
    assert shown in text or not commands()[name].iam or name in SILENT


class Gone(io.StringIO):
    """A terminal that was closed."""

    def write(self, _: str) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_closed_terminal_is_told_once_and_standard_error_never() -> None:
    with pytest.raises(BrokenPipeError):
        Output(Gone(), is_read=True).write("x")
    Output(Gone(), is_read=False).write("x")

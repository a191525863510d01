"""Write what each command of the operating wing calls into docs/operating.md."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cli.commands import Command, commands
from tools.generate import REPOSITORY
from tools.generate.marks import with_part

TARGET = REPOSITORY / "docs" / "operating.md"


def render() -> Mapping[Path, str]:
    """Return the page with the table as the commands give it."""
    shown = [each for each in commands().values() if each.wing == "operate"]
    heads = "| command | IAM actions | in Kubernetes |\n|---|---|---|\n"
    text = heads + "".join(f"{_row(each)}\n" for each in shown)
    return {TARGET: with_part(TARGET.read_text("utf-8"), mark="permissions", text=text)}


def _row(command: Command) -> str:
    calls = ", ".join(f"`{action}`" for action in command.calls)
    return f"| `{command.name}` | {calls} | {command.in_kubernetes} |"

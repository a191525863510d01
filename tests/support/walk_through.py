"""Running the shell blocks of a page, and comparing what they print with what the page shows."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS

_BLOCK = re.compile(r"^```(bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "\0"
_END_FORMAT = r"\0%d\0\0"
# A checkout of one's own has these itself.
_OWN = {".git", "build", "cdk.out", "config"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Commands of a page.

    Attributes:
        commands: As the page has them.
        shown: What they print; "" where the page does not say.
    """

    commands: str
    shown: str

    @property
    def fails(self) -> bool:
        """Whether the page shows that make fails."""
        return "make: ***" in self.shown


def blocks(page: Path) -> Iterator[Block]:
    """Yield the shell blocks of a page, each with the output that follows it."""
    found = _BLOCK.findall(page.read_text("utf-8"))
    for index, (kind, text) in enumerate(found):
        if kind == "bash":
            following = found[index + 1 : index + 2]
            shown = following[0][1] if following and following[0][0] == "text" else ""
            yield Block(commands=text, shown=shown)


def checkout(directory: Path) -> Path:
    """Return a folder that looks like a checkout in which nothing has been made yet."""
    # Else make would install the package from this folder into the environment of the tests.
    is_set_up = subprocess.run(["make", "-q", "setup-development"], cwd=REPOSITORY, check=False)
    assert is_set_up.returncode == 0, "run `make setup-development` first"
    for path in REPOSITORY.iterdir():
        if path.name not in _OWN:
            (directory / path.name).symlink_to(path)
    shutil.copytree(REPOSITORY / "config", directory / "config")
    return directory


def outputs(run: Sequence[Block], *, directory: Path) -> list[tuple[str, int]]:
    """Run blocks one after the other in one shell; return the output and exit code of each."""
    script = "".join(f"{block.commands}printf '{_END_FORMAT}' $?\n" for block in run)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=directory,
        # As if no make had started these tests.
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    *parts, _ = done.stdout.split(_END * 2)
    return [(text, int(code)) for text, _, code in (part.rpartition(_END) for part in parts)]


def matches(shown: str, printed: str) -> bool:
    """Say whether output is as shown: `…` stands for anything, alone in its line for any lines."""
    wanted = "".join(_line_pattern(line) for line in shown.splitlines())
    lines = "".join(f"{' '.join(line.split())}\n" for line in printed.splitlines())
    return re.fullmatch(wanted, lines) is not None


def _line_pattern(line: str) -> str:
    if line == "…":
        return r"(?:.*\n)*?"
    return ".*".join(map(re.escape, " ".join(line.split()).split("…"))) + r"\n"

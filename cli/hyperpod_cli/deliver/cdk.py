"""Runs the CDK CLI, and says each warning once, in one line."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

from hyperpod_cli.terminal.command_line import exit_with
from hyperpod_cli.terminal.errors import INTERRUPTED

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_WARNING = re.compile(r"^(?P<warning>WARNING .+) \(Annotation\)$")
# What the CLI says below a warning: the construct, and how the app could acknowledge it.
_BELOW = "   "
# What it says of its own work; and that the app has exited with 2, having said why.
_CHATTER = re.compile(
    r"^(Bundling asset |Successfully synthesized to |Supply a stack id |"
    r".*app\.py: Subprocess exited with error 2$)"
)


def main() -> int:
    """Run the CLI with the given arguments; return its exit code."""
    process = subprocess.Popen(  # noqa: S603 - our own command line
        ["cdk", *sys.argv[1:]],  # noqa: S607 - of the project
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    try:
        for line in told(process.stderr or ()):
            print(line, file=sys.stderr, flush=True)
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        return INTERRUPTED


def told(lines: Iterable[str]) -> Iterator[str]:
    """Yield what is passed on of the CLI's errors, as it comes.

    Args:
        lines: What the CLI writes.
    """
    said: set[str] = set()
    below = False
    for line in lines:
        text = _COLOUR.sub("", line).rstrip()
        if warning := _WARNING.match(text):
            below = True
            if warning["warning"] not in said:
                yield warning["warning"]
            said.add(warning["warning"])
        elif below and (not text or text.startswith(_BELOW)):
            continue
        elif _CHATTER.match(text):
            below = False
        else:
            below = False
            yield line.rstrip("\n")


if __name__ == "__main__":
    exit_with(main)

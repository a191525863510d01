"""What the commands share: how they take the configuration, refuse and exit."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from hyperpod_cli.terminal.errors import REFUSED


def refused(error: Exception) -> int:
    """Say why a command does not do what is asked; return its exit code.

    Args:
        error: What was found; its text says what to do.
    """
    print(error, file=sys.stderr)
    return REFUSED


def exit_with(main: Callable[[], int]) -> NoReturn:
    """Run a command and exit with its code, or with 1 where nobody reads on, as `head` does not.

    Args:
        main: The command.
    """
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more: https://docs.python.org/3/library/signal.html
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def config_parser(module: str, *, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option `--config`.

    Args:
        module: The command, as `python -m` takes it.
        description: Its docstring.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    add_config(parser)
    return parser


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the option `--config` to a parser."""
    parser.add_argument("--config", type=Path, default=Path("config/default.yaml"))


def make_command(target: str, config: Path) -> str:
    """Return a make target as it is run for a configuration.

    Args:
        target: Name of the target.
        config: File of the configuration.
    """
    return f"make {target} CONFIG={shlex.quote(str(config))}"

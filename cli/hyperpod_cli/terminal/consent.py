"""Asks before something is changed."""

import sys

import typer

from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError


def agreed(question: str, *, yes: bool) -> bool:
    """Return whether somebody agrees.

    Args:
        question: What to ask.
        yes: Whether they have agreed beforehand.

    Raises:
        OpsError: There is nobody to ask.
        Exit: Ctrl-C was the answer.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise OpsError("--yes: is missing, and there is no terminal to ask on; nothing was done")
    try:
        return typer.confirm(question)
    except typer.Abort:
        typer.echo("\nNothing was done.", err=True)
        raise typer.Exit(INTERRUPTED) from None

"""The command line: the commands by name, and how their errors are told."""

import errno
import functools
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import typer

from hyperpod_cli.commands.cluster_config import cluster_config
from hyperpod_cli.commands.connect import connect
from hyperpod_cli.commands.diagram import diagram
from hyperpod_cli.commands.env import env
from hyperpod_cli.commands.events import events
from hyperpod_cli.commands.kubeconfig import kubeconfig
from hyperpod_cli.commands.list import list_clusters
from hyperpod_cli.commands.logs import logs
from hyperpod_cli.commands.node_actions import command_of
from hyperpod_cli.commands.preflight import preflight
from hyperpod_cli.commands.scale import scale
from hyperpod_cli.commands.status import status
from hyperpod_cli.commands.verify import verify
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED

_COMMANDS: dict[str, Callable[..., None]] = {
    "cluster-config": cluster_config,
    "connect": connect,
    "delete": command_of(DELETE),
    "diagram": diagram,
    "env": env,
    "events": events,
    "kubeconfig": kubeconfig,
    "list": list_clusters,
    "logs": logs,
    "preflight": preflight,
    "reboot": command_of(REBOOT),
    "replace": command_of(REPLACE),
    "scale": scale,
    "status": status,
    "verify": verify,
}
"""A module of `commands/` each; what its work takes is imported when it runs."""
_DEBUG = "--debug"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def main() -> None:
    """Run `hyperpod-ops`; exit with 2 for what it cannot do."""
    debug = _DEBUG in sys.argv
    # Also after the command: people add it when something has gone wrong.
    sys.argv[:] = [argument for argument in sys.argv if argument != _DEBUG]
    try:
        try:
            app(debug=debug)()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _drop_output()
        typer.echo(f"output: cannot be written ({error.strerror}); make room", err=True)
        sys.exit(REFUSED)


def app(*, debug: bool = False) -> typer.Typer:
    """Return the command line.

    Args:
        debug: Whether errors show where in the code they are from.
    """
    line = typer.Typer(
        name="hyperpod-ops",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
    )
    line.callback()(_options)
    for name, command in _COMMANDS.items():
        line.command(name)(command if debug else _told(command))
    return line


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version  # noqa: PLC0415 - takes long to import

        typer.echo(version("hyperpod-cdk"))
        raise typer.Exit


def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show where in the code an error is from.")
    ] = False,
) -> None:
    """Look at a HyperPod cluster, and operate it."""


def _told(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that tells its errors in a line each."""

    @functools.wraps(command)
    def run(**options: object) -> None:
        try:
            command(**options)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # nobody reads on, as `head` does not
            raise typer.Exit(1) from None
        except Exception as error:
            # botocore, which this imports, takes long.
            from hyperpod_cli.terminal.explained import explained  # noqa: PLC0415

            lines = explained(error)
            if lines is None:
                raise
            typer.echo("\n".join(lines), err=True)
            raise typer.Exit(REFUSED) from None

    return run


def _drop_output() -> None:
    """Let the interpreter's last flush succeed: https://docs.python.org/3/library/signal.html."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

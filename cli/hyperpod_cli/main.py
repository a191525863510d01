"""The command line: its commands by wing, and how their errors are shown."""

import errno
import functools
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hyperpod_cdk.synthesis.node import use_own_node
from hyperpod_cli.commands import WINGS, commands, rehearsal
from hyperpod_cli.terminal.configuration import FileCommand
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.output import drop, protect

_DEBUG = "--debug"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class _Wings(TyperGroup):
    """Lists the commands under the headings of their wings, and shows their errors in a line."""

    def format_commands(
        self,
        ctx: Any,  # noqa: ANN401, ARG002 - typer has click's types under a private name
        formatter: Any,  # noqa: ANN401
    ) -> None:
        """Write the commands and their first sentences."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        for wing, heading in WINGS.items():
            rows = [
                (name, shown.get_short_help_str(limit))
                for name, shown in sorted(self.commands.items())
                if getattr(shown, "rich_help_panel", None) == wing and not shown.hidden
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> None:  # noqa: ANN401
        """Run a command, and exit with the code that it returns."""
        try:
            code = super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            code = INTERRUPTED
        except BrokenPipeError:  # the reader has gone, as `head` goes
            code = 1
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except Exception as error:
            lines = None if ctx.params["debug"] else _lines(error)
            if lines is None:
                raise
            typer.echo("\n".join(lines), err=True)
            code = error.code if isinstance(error, OpsError) else REFUSED
        if code:
            raise typer.Exit(code)


def _lines(error: Exception) -> tuple[str, ...] | None:
    """Return what is shown of an error; None for a fault of the program."""
    # botocore, which this imports, takes long.
    from hyperpod_cli.terminal.explained import explained  # noqa: PLC0415

    return explained(error)


def main() -> None:
    """Run `hyperpod-cdk`; exit with 2 for a refusal."""
    protect()
    use_own_node()
    # Also after the command: people add it when something has gone wrong.
    debug = [_DEBUG] if _DEBUG in sys.argv else []
    sys.argv[1:] = [*debug, *(argument for argument in sys.argv[1:] if argument != _DEBUG)]
    try:
        try:
            app()()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
        sys.exit(1)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        drop(sys.stdout)
        typer.echo(f"output: cannot be written ({error.strerror}); make room", err=True)
        sys.exit(REFUSED)


@functools.cache
def app() -> typer.Typer:
    """Return `hyperpod-cdk`."""
    line = typer.Typer(
        name="hyperpod-cdk",
        cls=_Wings,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # With colors, because without them typer drops the escape sequences of AWS's texts.
        context_settings={"help_option_names": ["-h", "--help"], "color": True},
        rich_markup_mode=None,
    )
    line.callback(help="Deploy a HyperPod cluster on Amazon EKS, look at it, and operate it.")(
        _options
    )
    for each in commands().values():
        line.command(each.name, cls=FileCommand, rich_help_panel=each.wing)(each.run)
    line.add_typer(rehearsal.app, rich_help_panel="deliver")
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
) -> None: ...

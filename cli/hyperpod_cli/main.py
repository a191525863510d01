"""The command line: its commands by wing, and how their errors are shown."""

import errno
import functools
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hyperpod_cdk.synthesis.node import use_own_node
from hyperpod_cli.commands import WINGS, Function, commands
from hyperpod_cli.terminal.errors import INTERRUPTED, REFUSED, OpsError
from hyperpod_cli.terminal.output import drop, protect

_DEBUG = "--debug"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_OPS = "hyperpod-ops"
# Commands of other wings that `hyperpod-ops` has, too.
_ALSO_OPS = ("diagram", "preflight", "verify")
# What the extra `rehearsal` brings, as far as a rehearsal misses it first.
_OF_EXTRA = ("aiohttp", "hyperpod_emulator")


class _Wings(TyperGroup):
    """Lists the commands under the headings of their wings."""

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
                for name, shown in self.commands.items()
                if getattr(shown, "rich_help_panel", None) == wing and not shown.hidden
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def main(name: str = "hyperpod-cdk") -> None:
    """Run `hyperpod-cdk`, or `hyperpod-ops`, what operators use; exit with 2 for a refusal."""
    protect()
    use_own_node()
    debug = _DEBUG in sys.argv
    # Also after the command: people add it when something has gone wrong.
    sys.argv[:] = [argument for argument in sys.argv if argument != _DEBUG]
    try:
        try:
            app(name=name, debug=debug)()
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
def app(*, name: str = "hyperpod-cdk", debug: bool = False) -> typer.Typer:
    """Return `hyperpod-cdk` or `hyperpod-ops`; with `debug`, errors show where they are from."""
    line = typer.Typer(
        name=name,
        cls=_Wings,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        # With colors, because without them typer drops the escape sequences of AWS's texts.
        context_settings={"help_option_names": ["-h", "--help"], "color": True},
        rich_markup_mode=None,
    )
    about = (
        "Look at a HyperPod cluster, and operate it."
        if name == _OPS
        else "Deploy a HyperPod cluster on Amazon EKS, look at it, and operate it."
    )
    line.callback(help=about)(_options)
    for each in commands().values():
        if name != _OPS or each.wing == "operate" or each.name in _ALSO_OPS:
            run = each.run if debug else one_line_errors(each.run)
            line.command(each.name, rich_help_panel=each.wing)(_exiting(run))
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


def _exiting(command: Function) -> Callable[..., None]:
    """Return a command that exits with the code that its function returns."""

    @functools.wraps(command)
    def run(**options: object) -> None:
        code = command(**options)
        if code:
            raise typer.Exit(code)

    return run


def one_line_errors(command: Function) -> Function:
    """Return a command that shows each of its errors in a line."""

    @functools.wraps(command)
    def run(**options: object) -> int | None:
        try:
            return command(**options)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            return INTERRUPTED
        except BrokenPipeError:  # the reader has gone, as `head` goes
            return 1
        except Exception as error:
            # botocore, which this imports, takes long.
            from hyperpod_cli.terminal.explained import explained  # noqa: PLC0415

            lines = explained(error)
            if isinstance(error, ModuleNotFoundError) and error.name in _OF_EXTRA:
                lines = (
                    f"{error.name}: is not installed; run pip install 'hyperpod-cdk[rehearsal]'",
                )
            if lines is None:
                raise
            typer.echo("\n".join(lines), err=True)
            return error.code if isinstance(error, OpsError) else REFUSED

    return run

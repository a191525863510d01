"""`hyperpod-cdk rehearse` and what it can play besides one deployment.

The package that rehearses imports this one, and is installed with an extra.
"""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.terminal.configuration import FileCommand
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import ConfigFile, Express, PipelineFile

_SHIPPED = ("default", "p5-training", "spot-dev", "trainium")


def rehearsal() -> Any:  # noqa: ANN401 - a module, which imports this package
    """Return what rehearses; raise OpsError if it is not installed."""
    try:
        return import_module("hyperpod_rehearsal.commands")
    except ModuleNotFoundError as error:
        raise OpsError(
            f"rehearse: {error.name} is not installed; run pip install 'hyperpod-cdk[rehearsal]'"
        ) from None


_FAULTS = "capacity-shortage, lifecycle-script-fails, deep-health-check-fails; none ends it."


class _RunsByDefault(TyperGroup):
    """Runs `run` where no other command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put the default command before its arguments."""
        is_named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if is_named else ["run", *args])


app = typer.Typer(
    name="rehearse",
    cls=_RunsByDefault,
    help="Deploy to a local AWS, verify, and delete.",
)


@app.command(cls=FileCommand)
def run(
    *,
    config: ConfigFile,
    scenario: Annotated[
        str, typer.Option(metavar="NAME", help="What fails or changes (docs/rehearsal.md).")
    ] = "default",
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep everything running until Ctrl-C.")
    ] = False,
    express: Express = False,
) -> int:
    """Deploy to a local AWS, verify, and delete.

    No AWS account is needed.

    `rehearse fault`, `rehearse matrix` and `rehearse pipeline` have options of their own, which
    their --help shows. Exit code: 0 if it succeeds, 1 if not, 2 if it cannot begin.
    """
    code: int = rehearsal().rehearse(config, scenario=scenario, express=express, keep=keep)
    return code


@app.command(cls=FileCommand)
def fault(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help=_FAULTS)],
    group: Annotated[str, typer.Option(help="The instance group whose nodes fail.")] = "",
    config: ConfigFile,
) -> None:
    """Let something fail in a rehearsal that is kept."""
    typer.echo(rehearsal().fault(name, group=group, config_path=config))


@app.command()
def matrix(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Configurations. Default: those of the project."),
    ] = None,
) -> int:
    """Play every scenario with each configuration, for 20 minutes."""
    shipped = [asset_directory("config") / f"{name}.yaml" for name in _SHIPPED]
    code: int = rehearsal().matrix(files or shipped)
    return code


@app.command(cls=FileCommand)
def pipeline(
    *,
    config: PipelineFile,
    without_checks: Annotated[
        bool,
        typer.Option("--without-checks", help="Leave out the checks of what is pushed."),
    ] = False,
) -> int:
    """Play a pipeline for all its environments."""
    code: int = rehearsal().pipeline(config, checks=not without_checks)
    return code

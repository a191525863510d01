"""`hyperpod-cdk rehearse` and what it can play besides one deployment.

The package that rehearses imports this one, and is installed with an extra.
"""

from datetime import date
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


_FAULTS = "Name capacity-shortage, lifecycle-script-fails or deep-health-check-fails; none ends it."


class _RunsByDefault(TyperGroup):
    """Runs `run` where no other command is named, and shows its options as its own."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as in Typer
        """Return what follows the command's name in its usage."""
        return [*self.commands["run"].collect_usage_pieces(ctx), "| COMMAND [ARGS]..."]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the options of the default command, then the others."""
        self.commands["run"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put the default command before its arguments."""
        is_named = bool(args) and args[0] in self.commands
        asks_for_help = any(word in ctx.help_option_names for word in args)
        default = ["--help"] if asks_for_help else ["run", *args]
        return super().parse_args(ctx, args if is_named else default)


app = typer.Typer(name="rehearse", cls=_RunsByDefault, rich_markup_mode=None)


@app.command(cls=FileCommand, hidden=True)
def run(
    *,
    config: ConfigFile,
    scenario: Annotated[
        str, typer.Option(metavar="NAME", help="Let this fail or change (docs: rehearsal).")
    ] = "default",
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep everything running until Ctrl-C.")
    ] = False,
    express: Express = False,
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Let the account lack this, which the file names."),
    ] = None,
    life: Annotated[
        str | None,
        typer.Option(metavar="SEED", help="Change the deployment in random steps of this seed."),
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="Let a life have so many steps.")] = 10,
) -> int:
    """Deploy to a local AWS, verify, and delete.

    No AWS account is needed. Exit code: 0 if it succeeds, 1 if not, 2 if it cannot begin.
    """
    if life is not None:
        lived: int = rehearsal().live(config, seed=life, steps=steps)
        return lived
    code: int = rehearsal().rehearse(
        config, scenario=scenario, express=express, keep=keep, missing=missing or ()
    )
    return code


app.callback(help=run.__doc__)(lambda: None)


@app.command(cls=FileCommand)
def fault(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help=_FAULTS)],
    group: Annotated[str, typer.Option(help="Let the nodes of this instance group fail.")] = "",
    config: ConfigFile,
) -> None:
    """Let something fail in a rehearsal that is kept."""
    typer.echo(rehearsal().fault(name, group=group, config_path=config))


@app.command()
def matrix(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Name configurations. Default: those of the project."),
    ] = None,
    quarter: Annotated[
        int | None,
        typer.Option(min=0, max=3, help="Deploy this quarter of them. Default: another each day."),
    ] = None,
) -> int:
    """Play every scenario with each configuration, for 20 minutes.

    Then deploy a quarter of the configurations in which any two values of keys meet, if FILE or
    --quarter does not say otherwise.
    """
    shipped = [asset_directory("config") / f"{name}.yaml" for name in _SHIPPED]
    if quarter is None and not files:
        quarter = date.today().toordinal() % 4
    code: int = rehearsal().matrix(files or shipped, quarter=quarter)
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

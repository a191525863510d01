"""Commands that take a configuration alone: `synth` and `validate`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile


@command()
def synth(
    *,
    config: ConfigFile,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder to write. Default: one in cdk.out, named as the configuration."),
    ] = None,
) -> int:
    """Write the CloudFormation templates."""
    from hyperpod_cli.aws.cdk_cli import cdk, templates_folder

    code = cdk("synth", "--quiet", config=config, output=output)
    if code == 0:
        for path in sorted((output or templates_folder(config)).glob("*.template.json")):
            typer.echo(path)
    return code


@command()
def validate(*, config: ConfigFile) -> None:
    """Check a configuration, and say what it deploys."""
    from datetime import date

    from hyperpod_cdk import load_config
    from hyperpod_cdk.checks import findings
    from hyperpod_cdk.helm.chart_rules import placeholder_warning
    from hyperpod_cdk.loading import check_chart
    from hyperpod_cli.deliver.shell_findings import shell_findings
    from hyperpod_cli.inspect.cost import cost_here, summary
    from hyperpod_cli.inspect.preflight.validators.eks.kubernetes_support import support_findings
    from hyperpod_stacks.packaged_chart import helm_chart
    from hyperpod_stacks.table import description

    loaded = load_config(config)
    chart = helm_chart(loaded)
    check_chart(loaded, path=config, chart=chart)
    typer.echo(f"{config} is valid. It deploys:")
    for line in description(loaded):
        typer.echo(f"  {line}")
    typer.echo(summary(cost_here(loaded)))
    for warning in (
        *findings(loaded),
        *(support_findings(loaded, day=date.today()) if loaded.control_plane else ()),
        *shell_findings(loaded),
    ):
        typer.echo(f"WARNING {warning}")
    if chart.is_placeholder and loaded.needs_official_chart:
        typer.echo(f"WARNING {placeholder_warning()}")

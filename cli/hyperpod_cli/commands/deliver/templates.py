"""`hyperpod-cdk templates`."""

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile


@command(calls=["s3:GetObject"])
def templates(*, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Write plain templates, to deploy without the CDK.

    They have parameters.
    """
    import json
    from importlib.metadata import version
    from pathlib import Path

    from hyperpod_cdk import TooLargeError, load_config
    from hyperpod_cdk.helm.chart import read_hyperpod_chart
    from hyperpod_cdk.helm.chart_rules import placeholder_chart
    from hyperpod_cdk.loading import check_chart
    from hyperpod_cdk.schema.yaml_file import read_yaml
    from hyperpod_cli.deliver.charts.command import package_if_needed
    from hyperpod_cli.deliver.templates.package import template_findings, write_package
    from hyperpod_cli.deliver.templates.parameters import PLACEHOLDER
    from hyperpod_cli.terminal.errors import OpsError
    from hyperpod_stacks.packaged_chart import OFFICIAL_CHART, packaged_chart

    loaded = load_config(config)
    read_yaml(config).refuse(template_findings(loaded))
    package_if_needed(config)
    target = Path("build", "templates", version("hyperpod-cdk"))
    # What is not packaged is refused here: templates with its placeholder cannot be deployed.
    needed = OFFICIAL_CHART if loaded.needs_official_chart else None
    path = packaged_chart(loaded) or needed
    chart = placeholder_chart() if path is None else read_hyperpod_chart(path)
    check_chart(loaded, path=config, chart=chart)
    typer.echo(f"Synthesizing {config}; the CDK calls it {PLACEHOLDER} meanwhile")
    context = json.loads(Path("cdk.json").read_text(encoding="utf-8"))["context"]
    try:
        write_package(loaded, chart=chart, target=target, context=context)
    except TooLargeError as error:
        raise OpsError(str(error)) from None
    for path in sorted(target.rglob("*")):
        if path.is_file():
            typer.echo(f"{path.stat().st_size:>12,}  {path}")
    typer.echo(f"Deploy them with {target}/deploy.sh; docs/templates.md says how.")

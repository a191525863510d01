"""What a deployment installs: `addon-versions`, `charts`, `charts-check` and `templates`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile

_NONE = "-"
_COLUMNS = ("add-on", "pinned", "EKS's default", "newest")


@command(iam=["eks:DescribeAddonVersions"])
def addon_versions(*, config: ConfigFile) -> int:
    """Show newer versions of the EKS add-ons.

    Exit code: 1 if EKS does not offer a pinned version.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.account import region_of
    from hyperpod_cli.inspect.preflight.validators.eks.kubernetes_version import offered_addons
    from hyperpod_cli.operate.orchestrators import refuse_kubernetes
    from hyperpod_cli.terminal.errors import FAILED, OpsError

    loaded = load_config(config)
    if loaded.control_plane is None:
        refuse_kubernetes(loaded.cluster.name, "addon-versions")
    session = boto3.Session()
    eks = session.client("eks", region_name=region_of(loaded, session=session))
    try:
        found = list(offered_addons(eks, kubernetes_version=loaded.eks.version))
    except (BotoCoreError, ClientError) as error:
        raise OpsError(
            f"Could not ask EKS for the versions of its add-ons: {error}. Give credentials that "
            "allow eks:DescribeAddonVersions."
        ) from None
    typer.echo(f"Kubernetes {loaded.eks.version} ({config})")
    rows = [(_COLUMNS, "")]
    for each in found:
        newest = each.offered[0] if each.offered else _NONE
        versions = (each.addon_name, each.pinned or _NONE, each.default or _NONE, newest)
        rows.append((versions, each.remark))
    for columns, remark in rows:
        typer.echo(("  " + "".join(f"{column:24}" for column in columns) + remark).rstrip())
    return 0 if all(each.is_offered for each in found) else FAILED


Pins = Annotated[
    Path | None, typer.Option(help="Read what is pinned from this file. Default: the project's.")
]
Output = Annotated[Path, typer.Option(help="Keep the package in this folder.")]
_OUTPUT = Path("build/charts")


@command(iam=["s3:GetObject"])
def charts(
    *,
    pins: Pins = None,
    output: Output = _OUTPUT,
    given: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take the package that `charts` wrote on another machine.",
        ),
    ] = None,
    if_needed_by: Annotated[
        Path | None,
        typer.Option(
            metavar="CONFIG",
            help="Package only if this configuration names no chart and the package is old.",
        ),
    ] = None,
) -> None:
    """Package the official HyperPod Helm chart.

    It needs git and the network, except with --from: the provenance is beside that file, and both
    must be of what is pinned.
    """
    from hyperpod_cli.deliver.charts.command import PINS, package_chart, package_if_needed
    from hyperpod_cli.deliver.charts.handed_over import take_package

    pins = pins or PINS
    if given is not None:
        take_package(given, pins=pins, output=output)
    elif if_needed_by is None:
        package_chart(pins=pins, output=output)
    else:
        package_if_needed(if_needed_by, pins=pins, output=output)


@command()
def charts_check(*, config: ConfigFile, pins: Pins = None, output: Output = _OUTPUT) -> None:
    """Report newer charts upstream, and what they would change."""
    from hyperpod_cli.deliver.charts.command import PINS, check_charts

    check_charts(config, pins=pins or PINS, output=output)


@command(iam=["s3:GetObject"])
def templates(*, config: ConfigFile) -> None:
    """Write plain templates, to deploy without the CDK.

    They have parameters.
    """
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
    from hyperpod_stacks.app import feature_flags
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
    try:
        write_package(loaded, chart=chart, target=target, context=feature_flags())
    except TooLargeError as error:
        raise OpsError(str(error)) from None
    for path in sorted(target.rglob("*")):
        if path.is_file():
            typer.echo(f"{path.stat().st_size:>12,}  {path}")
    typer.echo(f"Deploy them with {target}/deploy.sh; the page templates of the docs says how.")

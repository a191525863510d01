"""The user's Helm chart can be read, and has what the configuration asks for."""

from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import chart_findings
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(phase=Phase.VERSIONS)
def helm_chart(config: Config, target: Target) -> Problems:
    """Your chart cannot be read, or lacks a component.

    The official chart is packaged by `hyperpod-cdk deploy`, and looked at there.

    Keys: helm.chart, helm.components.training_operator

    [Helm](https://helm.sh/docs/topics/charts/)
    """
    if config.helm.chart is None:
        return
    command = f"helm show chart {config.helm.chart}"
    try:
        chart = read_hyperpod_chart(Path(config.helm.chart))
    except HyperPodChartError as unread:
        message = f"cannot be installed: {unread}; package a chart, or leave this out"
        finding = error(("helm", "chart"), str(config.helm.chart), message)
        yield finding, command
        return
    for finding in chart_findings(
        chart,
        helm=config.helm,
        region=target.region,
        instance_types=config.instance_types,
    ):
        yield finding, command

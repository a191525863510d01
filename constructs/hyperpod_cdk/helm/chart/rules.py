"""What a configuration asks of the HyperPod dependencies' chart, and the chart does not have."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperpod_cdk.helm.chart.chart import (
    AbsentChart,
    HyperPodChart,
    HyperPodChartError,
    read_hyperpod_chart,
)
from hyperpod_cdk.helm.components.rules import value_at
from hyperpod_cdk.helm.components.section import SWITCHES
from hyperpod_cdk.helm.dependency_values import (
    AGENT,
    GPU_OPERATOR_REGISTRY,
    dependency_values,
    needs_registry,
)
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath
from hyperpod_cdk.schema.limits import is_token, nearest

_UNKNOWN = ""
"""Stands for the region that a deployment finds out."""


def values_for_chart(
    chart: Path, *, helm: HelmConfig, region: str, instance_types: Collection[str]
) -> dict[str, Any]:
    """Return the values with which a chart is installed.

    Args:
        chart: A packaged chart (`.tgz`) or a chart directory.
        helm: Components to install, and values that are merged last.
        region: AWS Region; may be a token, which no chart can be checked against.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`.

    Raises:
        HyperPodChartError: It is no chart, or lacks what is asked of it; one line for each fault.
    """
    described = read_hyperpod_chart(chart)
    found = chart_findings(described, helm=helm, region=region, instance_types=instance_types)
    if lines := [f"{chart}: {finding}" for finding in found]:
        raise HyperPodChartError("\n".join(lines))
    return dependency_values(helm, region=region, instance_types=instance_types, chart=described)


def chart_findings(
    chart: HyperPodChart, *, helm: HelmConfig, region: str | None, instance_types: Collection[str]
) -> Iterator[Finding]:
    """Find what makes the chart fail, or is ignored, with these values.

    Args:
        chart: The chart.
        helm: Components to install, and values that are merged last.
        region: AWS Region; None or a token for one that is not known yet.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`.

    Yields:
        Findings with paths from the top of the configuration.
    """
    known = None if region is None or is_token(region) else region
    values = dependency_values(
        helm, region=known or _UNKNOWN, instance_types=instance_types, chart=chart
    )
    yield from _unknown_values(chart, values=helm.values)
    yield from _absent(chart, helm=helm, values=values)
    if needs_registry(helm, values=values):
        yield from _registry(chart, region=known)
    agent = values[AGENT]
    if agent.get("enabled") and not agent.get("hmaimage"):
        yield from _agent(chart, region=agent["region"], helm=helm)


def _unknown_values(chart: HyperPodChart, *, values: Mapping[str, Any]) -> Iterator[Finding]:
    for name in values:
        if chart.value_names is not None and name not in chart.value_names:
            listed = ", ".join(sorted(chart.value_names))
            message = (
                "is not a value of the chart, and Helm would ignore it"
                f"{nearest(name, known=chart.value_names)} (values: {listed})"
            )
            yield Finding(path=("helm", "values", name), value=name, message=message)


def _absent(
    chart: HyperPodChart, *, helm: HelmConfig, values: Mapping[str, Any]
) -> Iterator[Finding]:
    for absent in chart.absent:
        if _is_needed(absent, values=values):
            message = (
                f"needs the chart {absent.name} {absent.version}, which is not in {chart.path}: "
                "add it to charts/pins.yaml and run `make charts`, or set this to false"
            )
            path = _switch(absent.conditions[0], helm=helm)
            yield Finding(path=("helm", *path), value=True, message=message)


def _switch(condition: str, *, helm: HelmConfig) -> KeyPath:
    """Return where the configuration switches a component on, or would."""
    paths = [tuple(path.strip().split(".")) for path in condition.split(",")]
    for keys in paths:
        if value_at(helm.values, keys=keys) is not None:
            return ("values", *keys)
    return ("components", *(name for name, keys in SWITCHES.items() if keys == paths[0]))


def _is_needed(absent: AbsentChart, *, values: Mapping[str, Any]) -> bool:
    """Tell whether the component is on and nothing below it switches the chart off."""
    found = [_condition(condition, values=values) for condition in absent.conditions]
    return found[:1] == [True] and False not in found


def _condition(condition: str, *, values: Mapping[str, Any]) -> object:
    """Return what the first path says that is set, as in Helm."""
    found = (value_at(values, keys=tuple(path.strip().split("."))) for path in condition.split(","))
    return next((value for value in found if value is not None), None)


def _registry(chart: HyperPodChart, *, region: str | None) -> Iterator[Finding]:
    if region is None:
        message = "must be set for gpu_operator, whose images are in a registry of the region"
        yield Finding(path=("region",), value=None, message=message)
    elif region not in chart.regional:
        known = ", ".join(sorted(chart.regional)) or "none"
        message = (
            f"has no images of the GPU operator (regions: {known}): switch gpu_operator off, or "
            f"name a registry of your own in helm.values.{'.'.join(GPU_OPERATOR_REGISTRY)}"
        )
        yield Finding(path=("region",), value=region, message=message)


def _agent(chart: HyperPodChart, *, region: str, helm: HelmConfig) -> Iterator[Finding]:
    is_known = region != _UNKNOWN and not is_token(region)
    if chart.agent_regions is None or not is_known or region in chart.agent_regions:
        return
    keys = (AGENT, "region")
    in_values = value_at(helm.values, keys=keys) is not None
    message = (
        "has no image of HyperPod's health monitoring agent, so HyperPod may not be there "
        f"(regions: {', '.join(chart.agent_regions)}): deploy to one of these, or name an image of "
        f"your own in helm.values.{AGENT}.hmaimage"
    )
    path = ("helm", "values", *keys) if in_values else ("region",)
    yield Finding(path=path, value=region, message=message)

"""What a configuration needs of the chart."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_cdk.helm.chart import (
    AbsentChart,
    HyperPodChart,
    HyperPodChartError,
    read_hyperpod_chart,
)
from hyperpod_cdk.helm.components import SWITCHES, value_at
from hyperpod_cdk.helm.ec2_nodes import ec2_values
from hyperpod_cdk.helm.images import image_values
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, error
from hyperpod_cdk.schema.limits import is_token, nearest
from hyperpod_cdk.synthesis.assets import asset_directory

AGENT: Final = "health-monitoring-agent"
GPU_OPERATOR_REGISTRY: Final = ("gpu-operator", "gpu-operator", "operator", "repository")
_GPU_OPERATOR_SWITCH = ("gpu-operator", "enabled")


def dependency_values(
    helm: HelmConfig,
    *,
    region: str,
    instance_types: Iterable[str],
    chart: HyperPodChart | None = None,
) -> dict[str, Any]:
    """Return the chart's values for a region, which may be a token.

    The health-monitoring agent's image is regional and the chart would look the region up on a
    node; there is none yet when the chart is installed, and it would fall back to us-east-1. Some
    components need the chart, for its values of the region.
    """
    types = [*instance_types]
    components = helm.components_to_install(instance_types=types)
    values = _merged(components.to_request(), {AGENT: {"region": region}})
    values = _merged(values, ec2_values(types))
    if chart is not None and needs_registry(helm, values=values):
        values = _merged(values, chart.regional_values(region))
    if chart is not None and helm.image_registry is not None:
        values = _merged(values, image_values(chart.path, registry=helm.image_registry))
    return _merged(values, helm.values)


def needs_registry(helm: HelmConfig, *, values: Mapping[str, Any]) -> bool:
    """Tell whether the GPU operator's images are to come from the region's registry."""
    is_on = value_at(values, keys=_GPU_OPERATOR_SWITCH) is True
    return is_on and value_at(helm.values, keys=GPU_OPERATOR_REGISTRY) is None


def _merged(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in overrides.items():
        current = merged.get(key)
        if isinstance(current, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(current, value)
        else:
            merged[key] = value
    return merged


_UNKNOWN = ""
"""Stands for the region that a deployment finds out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What a configuration asks of a chart, and the values with which it would be installed.

    The region is None where it is not known yet.
    """

    helm: HelmConfig
    values: Mapping[str, Any]
    region: str | None


def values_for_chart(
    chart: HyperPodChart, *, helm: HelmConfig, region: str, instance_types: Collection[str]
) -> dict[str, Any]:
    """Return the values with which a chart is installed; no region that is a token is checked.

    Raises:
        HyperPodChartError: It lacks what is asked of it; one line for each fault.
    """
    found = chart_findings(chart, helm=helm, region=region, instance_types=instance_types)
    if lines := [f"{chart.path}: {finding}" for finding in found]:
        raise HyperPodChartError("\n".join(lines))
    return dependency_values(helm, region=region, instance_types=instance_types, chart=chart)


def chart_findings(
    chart: HyperPodChart, *, helm: HelmConfig, region: str | None, instance_types: Collection[str]
) -> Iterator[Finding]:
    """Find what makes the chart fail, or is ignored, with these values; nothing for a placeholder.

    The region is None, or a token, if it is not known yet. Paths start at the top of the
    configuration.
    """
    if chart.is_placeholder:
        return
    known = None if region is None or is_token(region) else region
    values = dependency_values(
        helm, region=known or _UNKNOWN, instance_types=instance_types, chart=chart
    )
    asked = _Asked(helm=helm, values=values, region=known)
    for check in (_unknown_values, _absent, _registry, _agent):
        yield from check(chart, asked)


def _unknown_values(chart: HyperPodChart, asked: _Asked) -> Iterator[Finding]:
    for name in asked.helm.values:
        if chart.value_names is not None and name not in chart.value_names:
            listed = ", ".join(sorted(chart.value_names))
            message = (
                "is not a value of the chart, and Helm would ignore it"
                f"{nearest(name, known=chart.value_names)} (values: {listed})"
            )
            yield error(("helm", "values", name), name, message)


def _absent(chart: HyperPodChart, asked: _Asked) -> Iterator[Finding]:
    for absent in chart.absent:
        if _is_needed(absent, values=asked.values):
            message = (
                f"needs the chart {absent.name} {absent.version}, which is not in {chart.path}: "
                "name a chart that has it in helm.chart (docs: helm), or set this to false"
            )
            yield error(("helm", *_switch(absent.conditions[0], helm=asked.helm)), True, message)


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


def _registry(chart: HyperPodChart, asked: _Asked) -> Iterator[Finding]:
    if not needs_registry(asked.helm, values=asked.values):
        return
    if asked.region is None:
        message = "must be set for gpu_operator, whose images are in a registry of the region"
        yield error(("region",), None, message)
    elif asked.region not in chart.regional:
        known = ", ".join(sorted(chart.regional)) or "none"
        message = (
            f"has no images of the GPU operator (regions: {known}): switch gpu_operator off, or "
            f"name a registry of your own in helm.values.{'.'.join(GPU_OPERATOR_REGISTRY)}"
        )
        yield error(("region",), asked.region, message)


def _agent(chart: HyperPodChart, asked: _Asked) -> Iterator[Finding]:
    agent = asked.values[AGENT]
    if not agent.get("enabled") or agent.get("hmaimage"):
        return
    region = agent["region"]
    is_known = region != _UNKNOWN and not is_token(region)
    if chart.agent_regions is None or not is_known or region in chart.agent_regions:
        return
    keys = (AGENT, "region")
    in_values = value_at(asked.helm.values, keys=keys) is not None
    message = (
        "has no image of HyperPod's health monitoring agent, so HyperPod may not be there "
        f"(regions: {', '.join(chart.agent_regions)}): deploy to one of these, or name an image of "
        f"your own in helm.values.{AGENT}.hmaimage"
    )
    yield error(("helm", "values", *keys) if in_values else ("region",), region, message)


TO_PACKAGE = (
    "run `hyperpod-cdk charts` (needs git and the network) and synthesize again, or name a chart "
    "of your "
    "own in helm.chart"
)
"""What to do about a placeholder."""


def placeholder_chart() -> HyperPodChart:
    """Return the chart that stands for the official one."""
    return read_hyperpod_chart(asset_directory("charts") / "not-packaged")


def placeholder_warning() -> Finding:
    """Return what is shown at synth."""
    message = "is the official chart, not packaged yet: run `hyperpod-cdk charts`"
    return Finding(
        path=("helm", "chart"),
        value=None,
        message=message,
        severity=Severity.WARNING,
        rule="chart_not_packaged",
    )

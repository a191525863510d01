"""Values of the HyperPod dependencies' Helm chart."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Token

from hyperpod_cdk.component_values import (
    SWITCHES,
    component_values,
    switches_in,
    value_at,
    values_problems,
)
from hyperpod_cdk.hyperpod_chart import (
    AbsentChart,
    HyperPodChart,
    HyperPodChartError,
    read_hyperpod_chart,
)
from hyperpod_cdk.hyperpod_components import HyperPodComponents

_AGENT = "health-monitoring-agent"
_GPU_OPERATOR_REGISTRY = ("gpu-operator", "gpu-operator", "operator", "repository")


def hyperpod_dependency_values(
    *,
    region: str,
    components: HyperPodComponents,
    chart: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the chart's values for a region.

    The health-monitoring agent's image is regional and the chart would look the region up on a
    node; there is none yet when the chart is installed, and it would fall back to us-east-1.

    Args:
        region: AWS region; may be a token, which no chart can be checked against.
        components: What to install.
        chart: The chart (`.tgz` or directory), to check the values against what it contains.
            Default: not checked.
        overrides: Merged last, key by key. Default: none.

    Raises:
        ValueError: An override contradicts `components`, or Helm would ignore it.
        HyperPodChartError: The chart has no image for the region, or lacks a component.
    """
    given = overrides or {}
    lines = list(_override_problems(given, components=components))
    if lines:
        raise ValueError("; ".join(lines))
    values = _merged(component_values(components), {_AGENT: {"region": region}})
    if chart is None:
        return _merged(values, given)
    described = read_hyperpod_chart(chart)
    if components.gpu_operator and value_at(given, keys=_GPU_OPERATOR_REGISTRY) is None:
        values = _merged(values, _regional_values(described, region=region))
    values = _merged(values, given)
    _check_absent(described, values=values)
    if components.health_monitoring_agent:
        _check_agent(described, agent=values[_AGENT])
    return values


def _override_problems(
    overrides: Mapping[str, Any], *, components: HyperPodComponents
) -> Iterator[str]:
    for problem in values_problems(overrides):
        yield f"overrides: {'.'.join(problem.keys)}: {problem.value!r} {problem.message}"
    on = components.switches()
    for name, value in switches_in(overrides).items():
        if value is not on[name]:
            keys = ".".join(SWITCHES[name])
            yield f"overrides: {keys}: {value} contradicts components.{name}: {on[name]}"


def _regional_values(chart: HyperPodChart, *, region: str) -> dict[str, Any]:
    if Token.is_unresolved(region):
        raise HyperPodChartError(
            f"{chart.path}: gpu_operator needs the region, whose image registries the chart lists: "
            "name the region, which is left to the deployment so far"
        )
    return chart.regional_values(region)


def _check_absent(chart: HyperPodChart, *, values: Mapping[str, Any]) -> None:
    for absent in chart.absent:
        if _is_needed(absent, values=values):
            raise HyperPodChartError(
                f"{chart.path}: {absent.component} needs the chart {absent.name} {absent.version}, "
                "which is not in this package: add it to charts/pins.yaml and run `make charts`, "
                f"or set {_switch(absent.conditions[0])} to false"
            )


def _switch(condition: str) -> str:
    """Name a component's switch as its user knows it."""
    names = {".".join(keys): f"components.{name}" for name, keys in SWITCHES.items()}
    return names.get(condition, condition)


def _is_needed(absent: AbsentChart, *, values: Mapping[str, Any]) -> bool:
    """Tell whether the component is on and nothing below it switches the chart off."""
    found = [_condition(condition, values=values) for condition in absent.conditions]
    return found[:1] == [True] and False not in found


def _condition(condition: str, *, values: Mapping[str, Any]) -> object:
    """Return what the first path says that is set, as in Helm."""
    found = (value_at(values, keys=tuple(path.strip().split("."))) for path in condition.split(","))
    return next((value for value in found if value is not None), None)


def _check_agent(chart: HyperPodChart, *, agent: Mapping[str, Any]) -> None:
    region, known = agent["region"], chart.agent_regions
    if known is None or agent.get("hmaimage") or Token.is_unresolved(region) or region in known:
        return
    raise HyperPodChartError(
        f"{chart.path}: no image of the health monitoring agent in region {region} (regions: "
        f"{', '.join(known)}): deploy to one of these, or name an image of your own in "
        f"{_AGENT}.hmaimage of the values"
    )


def _merged(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in overrides.items():
        current = merged.get(key)
        if isinstance(current, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(current, value)
        else:
            merged[key] = value
    return merged

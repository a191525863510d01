"""Values of the HyperPod dependencies' chart."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hyperpod_cdk.helm.chart.chart import HyperPodChart
from hyperpod_cdk.helm.components.rules import value_at
from hyperpod_cdk.helm.images.values import image_values
from hyperpod_cdk.helm.section import HelmConfig

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
    """Return the chart's values for a region.

    The health-monitoring agent's image is regional and the chart would look the region up on a
    node; there is none yet when the chart is installed, and it would fall back to us-east-1.

    Args:
        helm: Components to install, and values that are merged last, key by key.
        region: AWS Region; may be a token.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`.
        chart: The chart, whose values of the region are needed for some components. Default: none.
    """
    components = helm.components_to_install(instance_types=instance_types)
    values = _merged(components.to_request(), {AGENT: {"region": region}})
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

"""The HyperPod dependencies: the official Helm chart with what a cluster needs of it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Duration, Stack, Token
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.helm.chart import (
    AbsentChart,
    HyperPodChart,
    HyperPodChartError,
    read_hyperpod_chart,
)
from hyperpod_cdk.helm.component_rules import value_at
from hyperpod_cdk.helm.components import SWITCHES
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner

_AGENT = "health-monitoring-agent"
_GPU_OPERATOR_REGISTRY = ("gpu-operator", "gpu-operator", "operator", "repository")


class HyperPodDependencies(HelmRelease):
    """The Helm release of what HyperPod needs in the Kubernetes cluster.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        chart: The official chart as packaged by `make charts`, or another one.
        helm: Release, namespace, components, values, and what deleting the release may take along.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`; they say
            which device plugins are installed by default.

    Raises:
        HyperPodChartError: The chart has no image for the region, or lacks a component.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        chart: Path,
        helm: HelmConfig,
        instance_types: Iterable[str],
    ) -> None:
        region = Stack.of(scope).region
        super().__init__(
            scope,
            construct_id,
            cluster=cluster,
            provisioner=provisioner,
            chart=chart,
            release=helm.release,
            namespace=helm.namespace,
            values=dependency_values(
                helm, region=region, instance_types=instance_types, chart=chart
            ),
            adopt_namespaces=helm.adopt_namespaces,
            delete_user_objects=helm.delete_user_objects,
            wait_for_ready=Duration.minutes(helm.wait_for_ready_minutes),
        )


def dependency_values(
    helm: HelmConfig, *, region: str, instance_types: Iterable[str], chart: Path | None = None
) -> dict[str, Any]:
    """Return the chart's values for a region.

    The health-monitoring agent's image is regional and the chart would look the region up on a
    node; there is none yet when the chart is installed, and it would fall back to us-east-1.

    Args:
        helm: Components to install, and values that are merged last, key by key.
        region: AWS Region; may be a token, which no chart can be checked against.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`.
        chart: The chart (`.tgz` or directory), to check the values against what it contains.
            Default: not checked.

    Raises:
        HyperPodChartError: The chart has no image for the region, or lacks a component.
    """
    components = helm.components_to_install(instance_types=instance_types)
    values = _merged(components.to_request(), {_AGENT: {"region": region}})
    if chart is None:
        return _merged(values, helm.values)
    described = read_hyperpod_chart(chart)
    if components.gpu_operator and value_at(helm.values, keys=_GPU_OPERATOR_REGISTRY) is None:
        values = _merged(values, _regional_values(described, region=region))
    values = _merged(values, helm.values)
    _check_absent(described, values=values)
    if components.health_monitoring_agent:
        _check_agent(described, agent=values[_AGENT])
    return values


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

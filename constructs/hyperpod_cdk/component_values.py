"""The components of the HyperPod dependencies in the official chart's values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hyperpod_cdk.hyperpod_components import HyperPodComponents

Keys = tuple[str, ...]

# The `condition` of each dependency in the chart's Chart.yaml.
# https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/Chart.yaml
SWITCHES: Final[Mapping[str, Keys]] = {
    "training_operator": ("trainingOperators", "enabled"),
    "mpi_operator": ("mpi-operator", "enabled"),
    "nvidia_device_plugin": ("nvidia-device-plugin", "devicePlugin", "enabled"),
    "neuron_device_plugin": ("neuron-device-plugin", "devicePlugin", "enabled"),
    "efa_device_plugin": ("aws-efa-k8s-device-plugin", "devicePlugin", "enabled"),
    "health_monitoring_agent": ("health-monitoring-agent", "enabled"),
    "deep_health_check": ("deep-health-check", "enabled"),
    "job_auto_restart": ("job-auto-restart", "enabled"),
    "patching": ("hyperpod-patching", "enabled"),
    "gpu_operator": ("gpu-operator", "enabled"),
    "mlflow": ("mlflow", "enabled"),
    "cluster_role_bindings": ("cluster-role-and-bindings", "enabled"),
    "namespaced_role_bindings": ("namespaced-role-and-bindings", "enabled"),
    "team_role_bindings": ("team-role-and-bindings", "enabled"),
}
TARGET_ID: Final[Keys] = ("team-role-and-bindings", "computeQuotaTarget", "targetId")

# Components of the chart without an attribute, off by default.
_FURTHER_SWITCHES = (("cert-manager", "enabled"), ("storage", "enabled"))
_INFERENCE = ("inferenceOperators", "enabled")
_ALL_SWITCHES = (*SWITCHES.values(), *_FURTHER_SWITCHES, _INFERENCE)
# Subcharts whose switch is under another key than their values.
_SUBCHARTS = {"training-operators": SWITCHES["training_operator"]} | {
    "hyperpod-inference-operator": _INFERENCE
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ValuesProblem:
    """A value that Helm would ignore, or not understand.

    Attributes:
        keys: Where it is.
        value: The value.
        message: What is wrong and what to do; reads on from the value.
    """

    keys: Keys
    value: object
    message: str


def component_values(components: HyperPodComponents) -> dict[str, Any]:
    """Return the chart's values for the components; every switch is set, whatever its default."""
    values: dict[str, Any] = {}
    for name, on in components.switches().items():
        _put(values, keys=SWITCHES[name], value=on)
    if components.compute_quota_target_id is not None:
        _put(values, keys=TARGET_ID, value=components.compute_quota_target_id)
    return values


def switches_in(values: Mapping[str, Any]) -> dict[str, bool]:
    """Return the components that values switch, by attribute of `HyperPodComponents`."""
    found = {name: value_at(values, keys=keys) for name, keys in SWITCHES.items()}
    return {name: value for name, value in found.items() if isinstance(value, bool)}


def value_at(values: Mapping[str, Any], *, keys: Keys) -> object:
    """Return the value under nested keys; None where there is none."""
    node: object = values
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def values_problems(values: Mapping[str, Any]) -> Iterator[ValuesProblem]:
    """Yield each switch that Helm would ignore: misspelt, in the wrong place or of a wrong type."""
    for wrong, right in _wrong_switches():
        value = value_at(values, keys=wrong)
        if value is not None:
            message = f"is ignored by the chart: write {'.'.join(right)}"
            yield ValuesProblem(keys=wrong, value=value, message=message)
    for keys in _ALL_SWITCHES:
        yield from _type_problem(values, keys=keys, leaf=bool, rule="true or false")
    yield from _type_problem(values, keys=TARGET_ID, leaf=str, rule="text")


def _wrong_switches() -> Iterator[tuple[Keys, Keys]]:
    roots = [*((switch[0], switch) for switch in _ALL_SWITCHES), *_SUBCHARTS.items()]
    for root, switch in roots:
        wrong = {(root, "enabled"), (root, "enable"), (*switch[:-1], "enable")} - {switch}
        for keys in sorted(wrong):
            yield keys, switch
    # The official README's own mistake.
    yield TARGET_ID[1:], TARGET_ID


def _type_problem(
    values: Mapping[str, Any], *, keys: Keys, leaf: type, rule: str
) -> Iterator[ValuesProblem]:
    node: object = values
    for depth, key in enumerate(keys, start=1):
        if not isinstance(node, Mapping):
            message = f"must be a mapping: {'.'.join(keys)} belongs under it"
            yield ValuesProblem(keys=keys[: depth - 1], value=node, message=message)
            return
        if key not in node:
            return
        node = node[key]
    if not isinstance(node, leaf):
        message = f"must be {rule}: Helm ignores anything else here"
        yield ValuesProblem(keys=keys, value=node, message=message)


def _put(values: dict[str, Any], *, keys: Keys, value: object) -> None:
    *parents, last = keys
    for key in parents:
        values = values.setdefault(key, {})
    values[last] = value

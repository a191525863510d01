"""What of HyperPod's dependencies is installed, from toggles, values and instance types."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hyperpod_cdk.component_rules import COMPUTE_QUOTA_TARGET_ID, CONSENT, component_problems
from hyperpod_cdk.component_values import (
    SWITCHES,
    TARGET_ID,
    switches_in,
    value_at,
    values_problems,
)
from hyperpod_cdk.config.components import ComponentsConfig
from hyperpod_cdk.config.faults import Fault, Path, shown
from hyperpod_cdk.hyperpod_components import HyperPodComponents


def resolved_components(
    toggles: ComponentsConfig,
    *,
    values: Mapping[str, Any],
    consent: bool,
    instance_types: Iterable[str],
) -> HyperPodComponents:
    """Return what is installed: toggles, else the chart's values, else what the cluster needs."""
    needed = HyperPodComponents.for_instance_types(instance_types)
    switches = _switches(needed, chosen=_chosen(toggles, values=values))
    return replace(
        needed,
        **switches,
        compute_quota_target_id=_target_id(toggles, values=values),
        i_know_this_breaks_resiliency=consent,
    )


def component_faults(
    toggles: ComponentsConfig, *, values: Mapping[str, Any], consent: bool
) -> Iterator[Fault]:
    """Find what is wrong with the toggles and the chart's values; paths start at `helm`."""
    ignored = list(values_problems(values))
    if ignored:
        for problem in ignored:
            path: Path = ("values", *problem.keys)
            yield Fault(path=path, value=problem.value, message=problem.message)
        return
    yield from _contradictions(toggles, values=values)
    for wrong in component_problems(
        _switches(HyperPodComponents(), chosen=_chosen(toggles, values=values)),
        consent=consent,
        compute_quota_target_id=_target_id(toggles, values=values),
    ):
        path = _path(wrong.name, toggles=toggles, values=values)
        yield Fault(path=path, value=wrong.value, message=wrong.message)


def _contradictions(toggles: ComponentsConfig, *, values: Mapping[str, Any]) -> Iterator[Fault]:
    given = toggles.toggles()
    for name, value in switches_in(values).items():
        if given.get(name, value) is not value:
            message = f"contradicts helm.components.{name}: {shown(given[name])}; keep one of them"
            yield Fault(path=("values", *SWITCHES[name]), value=value, message=message)
    target_id, other = toggles.compute_quota_target_id, value_at(values, keys=TARGET_ID)
    if target_id is not None and other not in (None, target_id):
        message = f"contradicts helm.components.{COMPUTE_QUOTA_TARGET_ID}; keep one of them"
        yield Fault(path=("values", *TARGET_ID), value=other, message=message)


def _chosen(toggles: ComponentsConfig, *, values: Mapping[str, Any]) -> dict[str, bool]:
    return switches_in(values) | toggles.toggles()


def _switches(default: HyperPodComponents, *, chosen: Mapping[str, bool]) -> dict[str, bool]:
    """Apply what was chosen; the GPU operator's own device plugin replaces the default one."""
    switches = default.switches()
    if chosen.get("gpu_operator"):
        switches["nvidia_device_plugin"] = False
    return {**switches, **chosen}


def _target_id(toggles: ComponentsConfig, *, values: Mapping[str, Any]) -> str | None:
    other = value_at(values, keys=TARGET_ID)
    return toggles.compute_quota_target_id or (other if isinstance(other, str) else None)


def _path(name: str, *, toggles: ComponentsConfig, values: Mapping[str, Any]) -> Path:
    """Where the file says it, or would."""
    if name == CONSENT:
        return (name,)
    in_values = name in switches_in(values) and name not in toggles.toggles()
    return ("values", *SWITCHES[name]) if in_values else ("components", name)

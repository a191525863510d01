"""Which components of the HyperPod dependencies, and which chart values, go together."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperpod_cdk.helm.components.section import (
    SWITCHES,
    TARGET_ID,
    ComponentsConfig,
    Keys,
    with_defaults,
)
from hyperpod_cdk.schema.errors import Finding, KeyPath, shown

CONSENT: Final = "i_know_this_breaks_resiliency"
_COMPUTE_QUOTA_TARGET_ID = "compute_quota_target_id"
_EVERY_PLUGIN = {
    name: True for name in ("nvidia_device_plugin", "neuron_device_plugin", "efa_device_plugin")
}

# What HyperPod's resiliency needs, and what is lost without it.
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
LOST_WITHOUT: Final[Mapping[str, str]] = {
    "health_monitoring_agent": "nothing watches the nodes' hardware, so no faulty node is found, "
    "rebooted or replaced",
    "deep_health_check": "deep health checks cannot run, and the namespace aws-hyperpod is not "
    "created",
    "job_auto_restart": "no job is restarted after HyperPod has replaced a node under it",
    "patching": "HyperPod cannot move pods off a node before it updates the node's software",
}
# They live in the namespace aws-hyperpod, which deep_health_check creates.
_IN_THE_NAMESPACE = ("health_monitoring_agent", "job_auto_restart")

# Components of the chart that this configuration has no key for, off by default.
_FURTHER_SWITCHES = (("cert-manager", "enabled"), ("storage", "enabled"))
_INFERENCE = ("inferenceOperators", "enabled")
_ALL_SWITCHES = (*SWITCHES.values(), *_FURTHER_SWITCHES, _INFERENCE)
# Subcharts whose switch is under another key than their values.
_SUBCHARTS = {"training-operators": SWITCHES["training_operator"]} | {
    "hyperpod-inference-operator": _INFERENCE
}


def component_findings(
    components: ComponentsConfig, *, values: Mapping[str, Any], consent: bool
) -> Iterator[Finding]:
    """Find what keeps components and values from being installed together.

    Args:
        components: The components.
        values: Values for the chart, merged last.
        consent: Whether to go without what resiliency needs.

    Yields:
        Findings whose paths start at `helm`.
    """
    ignored = list(_ignored_values(values))
    if ignored:
        yield from ignored
        return
    yield from _contradictions(components, values=values)
    target_id = components.compute_quota_target_id or value_at(values, keys=TARGET_ID)
    switches = with_defaults(chosen_switches(components, values=values), plugins=_EVERY_PLUGIN)
    for finding in _combinations(switches, consent=consent, target_id=target_id):
        yield _in_file(finding, components=components, values=values)


def chosen_switches(components: ComponentsConfig, *, values: Mapping[str, Any]) -> dict[str, bool]:
    """Return each component that `components` or else the chart's values switch on or off."""
    return _switches_in(values) | components.switches()


def value_at(values: Mapping[str, Any], *, keys: Keys) -> object:
    """Return the value under nested keys; None where there is none."""
    node: object = values
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def _combinations(
    switches: Mapping[str, bool], *, consent: bool, target_id: object
) -> Iterator[Finding]:
    """Yield findings whose path is the component's key, or that of the consent."""
    yield from _resiliency(switches, consent=consent)
    yield from _namespace(switches, consent=consent)
    if switches["gpu_operator"] and switches["nvidia_device_plugin"]:
        message = (
            "must be false while gpu_operator is on: it brings an NVIDIA device plugin of its own, "
            "and two would offer the same GPUs"
        )
        yield Finding(path=("nvidia_device_plugin",), value=True, message=message)
    yield from _team(on=switches["team_role_bindings"], target_id=target_id)


def _resiliency(switches: Mapping[str, bool], *, consent: bool) -> Iterator[Finding]:
    off = [name for name in LOST_WITHOUT if not switches[name]]
    if consent and not off:
        message = (
            "must be false: everything that resiliency needs is on, and a consent left behind "
            "would let it be switched off by accident"
        )
        yield Finding(path=(CONSENT,), value=True, message=message)
    for name in () if consent else off:
        message = (
            f"breaks resiliency: {LOST_WITHOUT[name]}; leave it on, or consent with {CONSENT}: true"
        )
        yield Finding(path=(name,), value=False, message=message)


def _namespace(switches: Mapping[str, bool], *, consent: bool) -> Iterator[Finding]:
    homeless = [name for name in _IN_THE_NAMESPACE if switches[name]]
    if consent and homeless and not switches["deep_health_check"]:
        message = (
            "would make the installation fail: it creates the namespace aws-hyperpod, where "
            f"{' and '.join(homeless)} would go; leave it on, or switch those off too"
        )
        yield Finding(path=("deep_health_check",), value=False, message=message)


def _team(*, on: bool, target_id: object) -> Iterator[Finding]:
    path = (_COMPUTE_QUOTA_TARGET_ID,)
    if on and target_id is None:
        message = (
            "must be set: team_role_bindings makes a role for that team's namespace "
            "hyperpod-ns-<id>"
        )
        yield Finding(path=path, value=None, message=message)
    if not on and target_id is not None:
        message = "is for team_role_bindings, which is off; switch that on, or leave this out"
        yield Finding(path=path, value=target_id, message=message)


def _in_file(
    finding: Finding, *, components: ComponentsConfig, values: Mapping[str, Any]
) -> Finding:
    """Return the finding with the path where the file says it, or would."""
    name = str(finding.path[0])
    if name == CONSENT:
        return finding
    if name in _switches_in(values) and name not in components.switches():
        path: KeyPath = ("values", *SWITCHES[name])
    else:
        path = ("components", name)
    return Finding(path=path, value=finding.value, message=finding.message)


def _contradictions(
    components: ComponentsConfig, *, values: Mapping[str, Any]
) -> Iterator[Finding]:
    given = components.switches()
    for name, value in _switches_in(values).items():
        if given.get(name, value) is not value:
            message = f"contradicts helm.components.{name}: {shown(given[name])}; keep one of them"
            yield Finding(path=("values", *SWITCHES[name]), value=value, message=message)
    target_id, other = components.compute_quota_target_id, value_at(values, keys=TARGET_ID)
    if target_id is not None and other not in (None, target_id):
        message = f"contradicts helm.components.{_COMPUTE_QUOTA_TARGET_ID}; keep one of them"
        yield Finding(path=("values", *TARGET_ID), value=other, message=message)


def _switches_in(values: Mapping[str, Any]) -> dict[str, bool]:
    """Return the components that values switch, by the component's key."""
    found = {name: value_at(values, keys=keys) for name, keys in SWITCHES.items()}
    return {name: value for name, value in found.items() if isinstance(value, bool)}


def _ignored_values(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield each switch that Helm would ignore: misspelt, in the wrong place or of a wrong type."""
    for wrong, right in _wrong_switches():
        value = value_at(values, keys=wrong)
        if value is not None:
            message = f"is ignored by the chart: write {'.'.join(right)}"
            yield Finding(path=("values", *wrong), value=value, message=message)
    for keys in _ALL_SWITCHES:
        yield from _type_findings(values, keys=keys, leaf=bool, rule="true or false")
    yield from _type_findings(values, keys=TARGET_ID, leaf=str, rule="text")


def _wrong_switches() -> Iterator[tuple[Keys, Keys]]:
    roots = [*((switch[0], switch) for switch in _ALL_SWITCHES), *_SUBCHARTS.items()]
    for root, switch in roots:
        wrong = {(root, "enabled"), (root, "enable"), (*switch[:-1], "enable")} - {switch}
        for keys in sorted(wrong):
            yield keys, switch
    # A mistake of the official README.
    yield TARGET_ID[1:], TARGET_ID


def _type_findings(
    values: Mapping[str, Any], *, keys: Keys, leaf: type, rule: str
) -> Iterator[Finding]:
    node: object = values
    for depth, key in enumerate(keys, start=1):
        if not isinstance(node, Mapping):
            message = f"must be a mapping: {'.'.join(keys)} belongs under it"
            yield Finding(path=("values", *keys[: depth - 1]), value=node, message=message)
            return
        if key not in node:
            return
        node = node[key]
    if not isinstance(node, leaf):
        message = f"must be {rule}: Helm ignores anything else here"
        yield Finding(path=("values", *keys), value=node, message=message)

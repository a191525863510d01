"""The `helm.components` section: which dependencies of HyperPod are installed, and go together."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Self

from pydantic import Field

from hyperpod_cdk.facts.instance_types import instance_facts, is_of_hyperpod
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, shown
from hyperpod_cdk.schema.limits import DNS_LABEL, Message
from hyperpod_cdk.schema.section import Api, OfHyperPod, Section

Keys = tuple[str, ...]
"""Nested keys of the chart's values."""

# The namespace hyperpod-ns-<id> must fit into Kubernetes' 63 characters.
_LONGEST_TARGET_ID = 51


class ComponentsConfig(Section):
    """Components of HyperPod's dependencies: true, false, or left out for the default."""

    training_operator: Annotated[bool | None, Api("trainingOperators.enabled")] = None
    """Kubeflow training operator: PyTorchJob and four more job types. Default: true."""

    mpi_operator: Annotated[bool | None, Api("mpi-operator.enabled")] = None
    """MPI operator: MPIJob, which NCCL tests use. Default: true."""

    nvidia_device_plugin: Annotated[
        bool | None, Api("nvidia-device-plugin.devicePlugin.enabled")
    ] = None
    """Offers a node's GPUs to its pods. Default: true where an instance group has GPUs and
    gpu_operator is off."""

    neuron_device_plugin: Annotated[
        bool | None, Api("neuron-device-plugin.devicePlugin.enabled")
    ] = None
    """Offers a node's Neuron cores to its pods. Default: true where an instance group has Trainium
    chips."""

    efa_device_plugin: Annotated[
        bool | None, Api("aws-efa-k8s-device-plugin.devicePlugin.enabled")
    ] = None
    """Offers a node's EFA interfaces to its pods. Default: true where an instance group has EFA."""

    health_monitoring_agent: Annotated[
        bool | None, OfHyperPod(), Api("health-monitoring-agent.enabled")
    ] = None
    """Watches the hardware of each node; resiliency needs it. Default: true with a HyperPod
    cluster."""

    deep_health_check: Annotated[bool | None, OfHyperPod(), Api("deep-health-check.enabled")] = None
    """The service account of deep health checks, and the namespace aws-hyperpod; resiliency needs
    it. Default: true with a HyperPod cluster."""

    job_auto_restart: Annotated[bool | None, OfHyperPod(), Api("job-auto-restart.enabled")] = None
    """Lets HyperPod restart jobs after it has replaced a node; resiliency needs it. Default: true
    with a HyperPod cluster."""

    patching: Annotated[bool | None, OfHyperPod(), Api("hyperpod-patching.enabled")] = None
    """Lets HyperPod move pods off a node that it updates; resiliency needs it. Default: true with a
    HyperPod cluster."""

    gpu_operator: Annotated[bool | None, Api("gpu-operator.enabled")] = None
    """NVIDIA GPU operator, for multi-instance GPUs, with a device plugin of its own. The packaged
    chart must contain it. Default: false."""

    mlflow: Annotated[bool | None, Api("mlflow.enabled")] = None
    """Service account for MLflow. Default: false."""

    cluster_role_bindings: Annotated[bool | None, Api("cluster-role-and-bindings.enabled")] = None
    """Role for data scientists to list nodes and pods. Default: false."""

    namespaced_role_bindings: Annotated[
        bool | None, Api("namespaced-role-and-bindings.enabled")
    ] = None
    """Role for data scientists to run jobs in the namespace kubeflow. Default: false."""

    team_role_bindings: Annotated[bool | None, Api("team-role-and-bindings.enabled")] = None
    """Role for one team of task governance; needs compute_quota_target_id. Default: false."""

    compute_quota_target_id: Annotated[
        str | None,
        Field(pattern=rf"^{DNS_LABEL}$", max_length=_LONGEST_TARGET_ID),
        Message(
            f"must be 1 to {_LONGEST_TARGET_ID} lower-case letters, digits and inner "
            "hyphens: the team's namespace is hyperpod-ns-<id>"
        ),
        Api("team-role-and-bindings.computeQuotaTarget.targetId"),
    ] = None
    """The team of team_role_bindings, by the target of its compute quota; task governance has made
    its namespace, hyperpod-ns- and this id. Default: none."""

    def switches(self) -> dict[str, bool]:
        """Return each component that is switched on or off, and not left to its default."""
        values = {name: getattr(self, name) for name in SWITCHES}
        return {name: value for name, value in values.items() if value is not None}

    def to_install(self, *, instance_types: Iterable[str], chosen: Mapping[str, bool]) -> Self:
        """Return the components with every default filled in.

        Args:
            instance_types: Instance types of the nodes: HyperPod's, such as `ml.p5.48xlarge`, for
                which what resiliency needs is on, and EC2's.
            chosen: What is switched on or off, by the key of the component.

        Raises:
            ValueError: HyperPod has no such instance type.
        """
        types = frozenset(instance_types)
        needed = device_plugins(types) | dict.fromkeys(
            LOST_WITHOUT, any(map(is_of_hyperpod, types))
        )
        switches = with_defaults(chosen, needed=needed)
        return self.model_copy(update=switches)


# The chart's value that each field is marked with: the `condition` of a dependency in Chart.yaml.
# https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/Chart.yaml
_KEYS: Final[Mapping[str, Keys]] = {
    name: tuple(mark.member.split("."))
    for name, field in ComponentsConfig.model_fields.items()
    for mark in field.metadata
    if isinstance(mark, Api)
}
TARGET_ID: Final[Keys] = _KEYS["compute_quota_target_id"]
SWITCHES: Final[Mapping[str, Keys]] = {
    name: keys for name, keys in _KEYS.items() if keys != TARGET_ID
}
"""The switch of each component in the chart's values, by the component's key."""

_JOB_OPERATORS = ("training_operator", "mpi_operator")


def device_plugins(instance_types: Iterable[str]) -> dict[str, bool]:
    """Return which device plugins the hardware of instance types such as `ml.p5.48xlarge` needs.

    A type whose hardware is not known gets every plugin: each runs only on the types it knows.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    known = [instance_facts(instance_type) for instance_type in set(instance_types)]
    accelerators = {facts.accelerator.kind for facts in known if facts and facts.accelerator}
    unknown = None in known
    return {
        "nvidia_device_plugin": unknown or "GPU" in accelerators,
        "neuron_device_plugin": unknown or "Neuron" in accelerators,
        "efa_device_plugin": unknown or any(facts and facts.efa_interfaces for facts in known),
    }


def with_defaults(chosen: Mapping[str, bool], *, needed: Mapping[str, bool]) -> dict[str, bool]:
    """Return whether each component is on: as chosen, else if it is needed, else as by default."""
    defaults = {name: name in _JOB_OPERATORS for name in SWITCHES} | dict(needed)
    if chosen.get("gpu_operator"):
        # It has a device plugin of its own.
        defaults["nvidia_device_plugin"] = False
    return {**defaults, **chosen}


CONSENT: Final = "i_know_this_breaks_resiliency"
_COMPUTE_QUOTA_TARGET_ID = "compute_quota_target_id"
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
_EVERYTHING = dict.fromkeys(
    ("nvidia_device_plugin", "neuron_device_plugin", "efa_device_plugin", *LOST_WITHOUT), True
)
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
    """Find what keeps components and values from going together; paths start at `helm`."""
    ignored = list(_ignored_values(values))
    if ignored:
        yield from ignored
        return
    yield from _contradictions(components, values=values)
    target_id = components.compute_quota_target_id or value_at(values, keys=TARGET_ID)
    switches = with_defaults(chosen_switches(components, values=values), needed=_EVERYTHING)
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
        yield error(("nvidia_device_plugin",), True, message)
    yield from _team(on=switches["team_role_bindings"], target_id=target_id)


def _resiliency(switches: Mapping[str, bool], *, consent: bool) -> Iterator[Finding]:
    off = [name for name in LOST_WITHOUT if not switches[name]]
    if consent and not off:
        message = (
            "must be false: everything that resiliency needs is on, and a consent left behind "
            "would let it be switched off by accident"
        )
        yield error((CONSENT,), True, message)
    for name in () if consent else off:
        message = (
            f"breaks resiliency: {LOST_WITHOUT[name]}; leave it on, or consent with {CONSENT}: true"
        )
        yield error((name,), False, message)


def _namespace(switches: Mapping[str, bool], *, consent: bool) -> Iterator[Finding]:
    homeless = [name for name in _IN_THE_NAMESPACE if switches[name]]
    if consent and homeless and not switches["deep_health_check"]:
        message = (
            "would make the installation fail: it creates the namespace aws-hyperpod, where "
            f"{' and '.join(homeless)} would go; leave it on, or switch those off too"
        )
        yield error(("deep_health_check",), False, message)


def _team(*, on: bool, target_id: object) -> Iterator[Finding]:
    path = (_COMPUTE_QUOTA_TARGET_ID,)
    if on and target_id is None:
        message = (
            "must be set: team_role_bindings makes a role for that team's namespace "
            "hyperpod-ns-<id>"
        )
        yield error(path, None, message)
    if not on and target_id is not None:
        message = "is for team_role_bindings, which is off; switch that on, or leave this out"
        yield error(path, target_id, message)


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
    return error(path, finding.value, finding.message)


def _contradictions(
    components: ComponentsConfig, *, values: Mapping[str, Any]
) -> Iterator[Finding]:
    given = components.switches()
    for name, value in _switches_in(values).items():
        if given.get(name, value) is not value:
            message = f"contradicts helm.components.{name}: {shown(given[name])}; keep one of them"
            yield error(("values", *SWITCHES[name]), value, message)
    target_id, other = components.compute_quota_target_id, value_at(values, keys=TARGET_ID)
    if target_id is not None and other not in (None, target_id):
        message = f"contradicts helm.components.{_COMPUTE_QUOTA_TARGET_ID}; keep one of them"
        yield error(("values", *TARGET_ID), other, message)


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
            yield error(("values", *wrong), value, message)
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
            yield error(("values", *keys[: depth - 1]), node, message)
            return
        if key not in node:
            return
        node = node[key]
    if not isinstance(node, leaf):
        yield error(("values", *keys), node, f"must be {rule}: Helm ignores anything else here")

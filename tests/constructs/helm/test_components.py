"""Which components a cluster gets, and what it takes to go without one."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ComponentsConfig, ConfigError, HelmConfig
from tests.conftest import Configure, Raises
from tests.support.refusals import helm_lines

CONSENT: dict[str, Any] = {"i_know_this_breaks_resiliency": True}
PLUGINS = ("nvidia_device_plugin", "neuron_device_plugin", "efa_device_plugin")
OFF_BY_DEFAULT = {
    *("gpu_operator", "mlflow"),
    *("cluster_role_bindings", "namespaced_role_bindings", "team_role_bindings"),
}


def off(*names: str) -> ComponentsConfig:
    switches: dict[str, Any] = dict.fromkeys(names, False)
    return ComponentsConfig(**switches)


def installed(*instance_types: str, **helm: Any) -> ComponentsConfig:
    return HelmConfig(**helm).components_to_install(instance_types=instance_types)


def plugins(components: ComponentsConfig) -> set[str]:
    return {name for name in PLUGINS if components.switches()[name]}


@pytest.mark.parametrize(
    ("instance_types", "expected"),
    [
        pytest.param([], set(), id="none"),
        pytest.param(["ml.m5.2xlarge"], set(), id="cpu"),
        pytest.param(["ml.c5n.18xlarge"], {"efa_device_plugin"}, id="cpu-efa"),
        pytest.param(["ml.g5.xlarge"], {"nvidia_device_plugin"}, id="gpu"),
        pytest.param(
            ["ml.p5.48xlarge", "ml.m5.2xlarge"],
            {"nvidia_device_plugin", "efa_device_plugin"},
            id="gpu-efa",
        ),
        pytest.param(
            ["ml.trn1.32xlarge"], {"neuron_device_plugin", "efa_device_plugin"}, id="neuron-efa"
        ),
        pytest.param(["ml.g5.xlarge", "ml.trn2.48xlarge"], set(PLUGINS), id="both"),
        # No public source describes its hardware.
        pytest.param(["ml.p6e-gb200.36xlarge"], set(PLUGINS), id="unknown"),
    ],
)
def test_device_plugins_follow_the_hardware(instance_types: list[str], expected: set[str]) -> None:
    assert plugins(installed(*instance_types)) == expected


def test_everything_else_is_as_hyperpod_needs_it() -> None:
    switches = installed("ml.m5.2xlarge").switches()

    assert {name for name, on in switches.items() if not on} == {*OFF_BY_DEFAULT, *PLUGINS}


def test_no_component_is_left_to_its_default() -> None:
    every = ComponentsConfig.model_fields.keys() - {"compute_quota_target_id"}

    assert installed("ml.m5.2xlarge").switches().keys() == every


def test_unknown_instance_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ml\.p5\.huge"):
        installed("ml.p5.huge")


@pytest.mark.parametrize(
    "name", ["health_monitoring_agent", "deep_health_check", "job_auto_restart", "patching"]
)
def test_resiliency_is_not_given_up_by_accident(name: str, raises: Raises) -> None:
    with raises(ConfigError) as caught:
        HelmConfig(components=off(name))

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "names",
    [
        {"patching"},
        {"job_auto_restart"},
        {"health_monitoring_agent"},
        {"deep_health_check", "health_monitoring_agent", "job_auto_restart"},
        {"deep_health_check", "health_monitoring_agent", "job_auto_restart", "patching"},
    ],
)
def test_resiliency_is_given_up_with_consent(names: set[str]) -> None:
    switches = installed("ml.m5.2xlarge", components=off(*names), **CONSENT).switches()

    assert {name for name in names if switches[name]} == set()


@pytest.mark.parametrize(
    "components",
    [
        {"gpu_operator": True, "nvidia_device_plugin": False},
        {"team_role_bindings": True, "compute_quota_target_id": "research"},
        dict.fromkeys(PLUGINS, False),
        {"training_operator": False, "mpi_operator": False},
    ],
)
def test_what_is_chosen_is_installed(components: dict[str, Any]) -> None:
    found = installed("ml.p5.48xlarge", "ml.trn1.32xlarge", components=components)

    assert {name: getattr(found, name) for name in components} == components


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"gpu-operator": {"enabled": True}},
            {"gpu_operator": True, "nvidia_device_plugin": False},
        ),
        ({"mpi-operator": {"enabled": False}}, {"mpi_operator": False}),
        (
            {"team-role-and-bindings": {"enabled": True, "computeQuotaTarget": {"targetId": "a"}}},
            {"team_role_bindings": True},
        ),
    ],
)
def test_what_the_charts_values_switch_is_installed(
    values: dict[str, Any], expected: dict[str, bool]
) -> None:
    switches = installed("ml.p5.48xlarge", values=values).switches()

    assert {name: switches[name] for name in expected} == expected


def test_a_component_and_the_charts_value_may_agree_and_resiliency_be_given_up_by_value() -> None:
    values = {"mpi-operator": {"enabled": False}, "hyperpod-patching": {"enabled": False}}

    found = installed("ml.m5.large", components=off("mpi_operator"), values=values, **CONSENT)

    assert (found.mpi_operator, found.patching, found.health_monitoring_agent) == (
        False,
        False,
        True,
    )


def test_every_type_that_a_group_may_have_counts(configure: Configure) -> None:
    types = ["ml.m5.large", "ml.trn2.3xlarge"]
    group = {"name": "any", "instance_count": 0, "instance_types": types}
    helm = {"components": {"neuron_device_plugin": None}}

    config = configure({"cluster": {"instance_groups": [group]}, "helm": helm})

    assert plugins(config.components) >= {"neuron_device_plugin"}
    assert "nvidia_device_plugin" not in plugins(config.components)


@pytest.mark.parametrize(
    ("components", "values"),
    [
        ({"mpi_operator": False}, {"mpi-operator": {"enabled": False}}),
        ({"training_operator": True}, {"trainingOperators": {"enabled": True}}),
        ({"gpu_operator": None}, {}),
        (
            {"team_role_bindings": True, "compute_quota_target_id": "research"},
            {
                "team-role-and-bindings": {
                    "enabled": True,
                    "computeQuotaTarget": {"targetId": "research"},
                }
            },
        ),
    ],
)
def test_each_is_the_chart_value_that_switches_it(
    components: dict[str, Any], values: dict[str, Any]
) -> None:
    assert ComponentsConfig(**components).to_request() == values


AGENT = "health-monitoring-agent"


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    # resiliency
    "value": ({"values": {AGENT: {"enabled": False}}}, f"helm.values.{AGENT}.enabled"),
    "value-null-toggle": (
        {"values": {"hyperpod-patching": {"enabled": False}}, "components": {"patching": None}},
        "helm.values.hyperpod-patching.enabled",
    ),
    "idle-consent": ({"i_know_this_breaks_resiliency": True}, "helm.i_know_this_breaks_resiliency"),
    "namespace": (
        {"components": {"deep_health_check": False}, "i_know_this_breaks_resiliency": True},
        "helm.components.deep_health_check",
    ),
    # values against toggles
    "contradiction": (
        {"components": {"mpi_operator": True}, "values": {"mpi-operator": {"enabled": False}}},
        "helm.values.mpi-operator.enabled",
    ),
    "contradiction-below": (
        {
            "components": {"nvidia_device_plugin": False},
            "values": {"nvidia-device-plugin": {"devicePlugin": {"enabled": True}}},
        },
        "helm.values.nvidia-device-plugin.devicePlugin.enabled",
    ),
    "contradicting-team": (
        {
            "components": {"team_role_bindings": True, "compute_quota_target_id": "a"},
            "values": {"team-role-and-bindings": {"computeQuotaTarget": {"targetId": "b"}}},
        },
        "helm.values.team-role-and-bindings.computeQuotaTarget.targetId",
    ),
    # values that Helm ignores
    "typo": (
        {"values": {"namespaced-role-and-bindings": {"enable": True}}},
        "helm.values.namespaced-role-and-bindings.enable",
    ),
    "typo-below": (
        {"values": {"nvidia-device-plugin": {"devicePlugin": {"enable": False}}}},
        "helm.values.nvidia-device-plugin.devicePlugin.enable",
    ),
    "wrong-level": (
        {"values": {"nvidia-device-plugin": {"enabled": False}}},
        "helm.values.nvidia-device-plugin.enabled",
    ),
    "wrong-root": (
        {"values": {"training-operators": {"enabled": False}}},
        "helm.values.training-operators.enabled",
    ),
    "typo-no-toggle": (
        {"values": {"cert-manager": {"enable": True}}},
        "helm.values.cert-manager.enable",
    ),
    "readme-mistake": (
        {"values": {"computeQuotaTarget": {"targetId": "a"}}},
        "helm.values.computeQuotaTarget.targetId",
    ),
    "text": (
        {"values": {"mpi-operator": {"enabled": "false"}}},
        "helm.values.mpi-operator.enabled",
    ),
    "null-component": ({"values": {AGENT: None}}, f"helm.values.{AGENT}"),
    "null-switch": ({"values": {AGENT: {"enabled": None}}}, f"helm.values.{AGENT}.enabled"),
    # what does not go together
    "two-gpu-plugins": (
        {"components": {"gpu_operator": True, "nvidia_device_plugin": True}},
        "helm.components.nvidia_device_plugin",
    ),
    "two-gpu-plugins-by-value": (
        {
            "components": {"gpu_operator": True},
            "values": {"nvidia-device-plugin": {"devicePlugin": {"enabled": True}}},
        },
        "helm.values.nvidia-device-plugin.devicePlugin.enabled",
    ),
    "no-team": (
        {"components": {"team_role_bindings": True}},
        "helm.components.compute_quota_target_id",
    ),
    "idle-team": (
        {"components": {"compute_quota_target_id": "a"}},
        "helm.components.compute_quota_target_id",
    ),
    "long-team": (
        {"components": {"team_role_bindings": True, "compute_quota_target_id": "a" * 52}},
        "helm.components.compute_quota_target_id",
    ),
}


@pytest.mark.parametrize(("helm", "place"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_gives_one_line(
    helm: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    (line,) = helm_lines(helm)

    assert line.startswith(f"{place}: ")
    assert line == snapshot


def test_everything_that_breaks_resiliency_is_reported_at_once() -> None:
    lines = helm_lines(
        {
            "components": {"patching": False, "mpi_operator": False},
            "values": {"job-auto-restart": {"enabled": False}},
        }
    )

    assert [line.split(": ")[0] for line in lines] == [
        "helm.values.job-auto-restart.enabled",
        "helm.components.patching",
    ]

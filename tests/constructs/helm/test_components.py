"""Which components a cluster gets, and what it takes to go without one."""

from typing import Any

import pytest

from hyperpod_cdk import ComponentsConfig, ConfigError, HelmConfig

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
    with pytest.raises(ValueError, match="is not a HyperPod instance type"):
        installed("ml.p5.huge")


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("health_monitoring_agent", "no faulty node is found, rebooted or replaced"),
        ("deep_health_check", "deep health checks cannot run"),
        ("job_auto_restart", "no job is restarted"),
        ("patching", "cannot move pods off a node"),
    ],
)
def test_resiliency_is_not_given_up_by_accident(name: str, lost: str) -> None:
    line = f"^HelmConfig.components.{name}: false breaks resiliency: .*{lost}"

    with pytest.raises(ConfigError, match=line) as caught:
        HelmConfig(components=off(name))

    assert "i_know_this_breaks_resiliency: true" in str(caught.value)
    assert len(caught.value.lines) == 1


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


def test_the_namespace_of_one_component_is_not_left_out() -> None:
    components = off("deep_health_check", "job_auto_restart")

    with pytest.raises(ConfigError, match="aws-hyperpod, where health_monitoring_agent would go"):
        HelmConfig(components=components, **CONSENT)


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

"""Which components a cluster gets, and which cannot go together."""

from dataclasses import replace
from typing import Any

import pytest
from hyperpod_cdk.helm.hyperpod_components import HyperPodComponents

CONSENT: dict[str, Any] = {"i_know_this_breaks_resiliency": True}
PLUGINS = ("nvidia_device_plugin", "neuron_device_plugin", "efa_device_plugin")
OFF_BY_DEFAULT = {
    *("gpu_operator", "mlflow"),
    *("cluster_role_bindings", "namespaced_role_bindings", "team_role_bindings"),
}


def off(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, False)


def plugins(components: HyperPodComponents) -> set[str]:
    switches = components.switches()
    return {name for name in PLUGINS if switches[name]}


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
    assert plugins(HyperPodComponents.for_instance_types(instance_types)) == expected


def test_everything_else_is_as_hyperpod_needs_it() -> None:
    switches = HyperPodComponents.for_instance_types(["ml.m5.2xlarge"]).switches()

    assert {name for name, on in switches.items() if not on} == {*OFF_BY_DEFAULT, *PLUGINS}


def test_unknown_instance_type_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a HyperPod instance type"):
        HyperPodComponents.for_instance_types(["ml.p5.huge"])


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
    with pytest.raises(ValueError, match=f"^{name}: False breaks resiliency: .*{lost}") as caught:
        replace(HyperPodComponents(), **off(name))

    assert "i_know_this_breaks_resiliency: true" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_that_is_lost_is_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"job_auto_restart: .*; patching: "):
        HyperPodComponents(job_auto_restart=False, patching=False)


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
    components = HyperPodComponents(**off(*names), **CONSENT)

    assert not any(getattr(components, name) for name in names)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(
            {"deep_health_check": False, **CONSENT},
            "where health_monitoring_agent and job_auto_restart would go",
            id="no-namespace",
        ),
        pytest.param(
            {"deep_health_check": False, "job_auto_restart": False, **CONSENT},
            "aws-hyperpod, where health_monitoring_agent would go",
            id="no-namespace-for-one",
        ),
        pytest.param(CONSENT, "a consent left behind", id="idle-consent"),
        pytest.param(
            {"gpu_operator": True},
            "nvidia_device_plugin: True must be false while gpu_operator is on",
            id="two-gpu-plugins",
        ),
        pytest.param(
            {"team_role_bindings": True},
            "compute_quota_target_id: None must be set",
            id="no-team",
        ),
        pytest.param(
            {"compute_quota_target_id": "research"},
            "'research' is for team_role_bindings, which is off",
            id="idle-team",
        ),
    ],
)
def test_what_cannot_go_together_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(HyperPodComponents(), **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu_operator": True, "nvidia_device_plugin": False},
        {"team_role_bindings": True, "compute_quota_target_id": "research"},
        off(*PLUGINS),
        {"training_operator": False, "mpi_operator": False},
    ],
)
def test_what_can_go_together_is_taken(changes: dict[str, Any]) -> None:
    components = replace(HyperPodComponents(), **changes)

    assert all(getattr(components, name) == value for name, value in changes.items())

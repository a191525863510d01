"""What of HyperPod's dependencies a configuration installs."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk import Config
from tests.conftest import Configure


@pytest.fixture
def components(configure: Configure) -> Callable[[dict[str, Any]], dict[str, bool]]:
    """Change the `helm` section of the default configuration; return what is installed."""

    def switches(helm: dict[str, Any]) -> dict[str, bool]:
        config: Config = configure({"helm": helm})
        return config.components.switches()

    return switches


@pytest.mark.parametrize(
    ("helm", "expected"),
    [
        pytest.param(
            {}, {"nvidia_device_plugin": True, "neuron_device_plugin": True}, id="default"
        ),
        pytest.param(
            {"components": {"neuron_device_plugin": None}},
            {"nvidia_device_plugin": True, "neuron_device_plugin": False},
            id="as-needed",
        ),
        pytest.param(
            {"components": {"nvidia_device_plugin": False}},
            {"nvidia_device_plugin": False},
            id="off-though-needed",
        ),
        pytest.param(
            {"components": {"gpu_operator": True}},
            {"gpu_operator": True, "nvidia_device_plugin": False},
            id="gpu-operator",
        ),
        pytest.param(
            {"values": {"gpu-operator": {"enabled": True}}},
            {"gpu_operator": True, "nvidia_device_plugin": False},
            id="gpu-operator-by-value",
        ),
        pytest.param(
            {"values": {"mpi-operator": {"enabled": False}}}, {"mpi_operator": False}, id="value"
        ),
        pytest.param(
            {
                "components": {"mpi_operator": False},
                "values": {"mpi-operator": {"enabled": False}},
            },
            {"mpi_operator": False},
            id="agreeing",
        ),
        pytest.param(
            {
                "i_know_this_breaks_resiliency": True,
                "values": {"hyperpod-patching": {"enabled": False}},
            },
            {"patching": False, "health_monitoring_agent": True},
            id="consent",
        ),
        pytest.param(
            {
                "values": {
                    "team-role-and-bindings": {
                        "enabled": True,
                        "computeQuotaTarget": {"targetId": "a"},
                    }
                }
            },
            {"team_role_bindings": True},
            id="team-by-value",
        ),
    ],
)
def test_what_is_installed(
    helm: dict[str, Any],
    expected: dict[str, bool],
    components: Callable[[dict[str, Any]], dict[str, bool]],
) -> None:
    installed = components(helm)

    assert {name: installed[name] for name in expected} == expected


def test_every_type_that_a_group_may_have_counts(configure: Configure) -> None:
    group = {
        "name": "any",
        "instance_count": 0,
        "instance_types": ["ml.m5.large", "ml.trn2.3xlarge"],
    }
    helm = {"components": {"neuron_device_plugin": None}}

    installed = configure({"cluster": {"instance_groups": [group]}, "helm": helm})

    switches = installed.components.switches()
    assert (switches["neuron_device_plugin"], switches["nvidia_device_plugin"]) == (True, False)

"""Rules on the components and the values of the chart: one mistake, one line, with its place."""

from typing import Any

import pytest

from tests.support.refusals import helm_lines

AGENT = "health-monitoring-agent"
OPTIONAL_CONSENT = "or consent with i_know_this_breaks_resiliency: true"


@pytest.mark.parametrize(
    ("helm", "start", "part"),
    [
        # resiliency
        pytest.param(
            {"components": {"health_monitoring_agent": False}},
            "helm.components.health_monitoring_agent: false breaks resiliency: nothing watches",
            OPTIONAL_CONSENT,
            id="toggle",
        ),
        pytest.param(
            {"values": {AGENT: {"enabled": False}}},
            f"helm.values.{AGENT}.enabled: false breaks resiliency: nothing watches",
            OPTIONAL_CONSENT,
            id="value",
        ),
        pytest.param(
            {"values": {"hyperpod-patching": {"enabled": False}}, "components": {"patching": None}},
            "helm.values.hyperpod-patching.enabled: false breaks resiliency",
            "before it updates the node's software",
            id="value-null-toggle",
        ),
        pytest.param(
            {"i_know_this_breaks_resiliency": True},
            "helm.i_know_this_breaks_resiliency: true must be false",
            "a consent left behind",
            id="idle-consent",
        ),
        pytest.param(
            {"components": {"deep_health_check": False}, "i_know_this_breaks_resiliency": True},
            "helm.components.deep_health_check: false would make the installation fail",
            "where health_monitoring_agent and job_auto_restart would go",
            id="namespace",
        ),
        # values against toggles
        pytest.param(
            {"components": {"mpi_operator": True}, "values": {"mpi-operator": {"enabled": False}}},
            "helm.values.mpi-operator.enabled: false contradicts helm.components.mpi_operator: ",
            "true; keep one of them",
            id="contradiction",
        ),
        pytest.param(
            {
                "components": {"nvidia_device_plugin": False},
                "values": {"nvidia-device-plugin": {"devicePlugin": {"enabled": True}}},
            },
            "helm.values.nvidia-device-plugin.devicePlugin.enabled: true contradicts",
            "helm.components.nvidia_device_plugin: false",
            id="contradiction-below",
        ),
        pytest.param(
            {
                "components": {"team_role_bindings": True, "compute_quota_target_id": "a"},
                "values": {"team-role-and-bindings": {"computeQuotaTarget": {"targetId": "b"}}},
            },
            "helm.values.team-role-and-bindings.computeQuotaTarget.targetId: 'b' contradicts",
            "helm.components.compute_quota_target_id",
            id="contradicting-team",
        ),
        # values that Helm ignores
        pytest.param(
            {"values": {"namespaced-role-and-bindings": {"enable": True}}},
            "helm.values.namespaced-role-and-bindings.enable: true is ignored by the chart",
            "write namespaced-role-and-bindings.enabled",
            id="typo",
        ),
        pytest.param(
            {"values": {"nvidia-device-plugin": {"devicePlugin": {"enable": False}}}},
            "helm.values.nvidia-device-plugin.devicePlugin.enable: false is ignored",
            "write nvidia-device-plugin.devicePlugin.enabled",
            id="typo-below",
        ),
        pytest.param(
            {"values": {"nvidia-device-plugin": {"enabled": False}}},
            "helm.values.nvidia-device-plugin.enabled: false is ignored",
            "write nvidia-device-plugin.devicePlugin.enabled",
            id="wrong-level",
        ),
        pytest.param(
            {"values": {"training-operators": {"enabled": False}}},
            "helm.values.training-operators.enabled: false is ignored",
            "write trainingOperators.enabled",
            id="wrong-root",
        ),
        pytest.param(
            {"values": {"cert-manager": {"enable": True}}},
            "helm.values.cert-manager.enable: true is ignored",
            "write cert-manager.enabled",
            id="typo-no-toggle",
        ),
        pytest.param(
            {"values": {"computeQuotaTarget": {"targetId": "a"}}},
            "helm.values.computeQuotaTarget.targetId: 'a' is ignored",
            "write team-role-and-bindings.computeQuotaTarget.targetId",
            id="readme-mistake",
        ),
        pytest.param(
            {"values": {"mpi-operator": {"enabled": "false"}}},
            "helm.values.mpi-operator.enabled: 'false' must be true or false",
            "Helm ignores anything else",
            id="text",
        ),
        pytest.param(
            {"values": {AGENT: None}},
            f"helm.values.{AGENT}: null must be a mapping",
            f"{AGENT}.enabled belongs under it",
            id="null-component",
        ),
        pytest.param(
            {"values": {AGENT: {"enabled": None}}},
            f"helm.values.{AGENT}.enabled: null must be true or false",
            "",
            id="null-switch",
        ),
        # what does not go together
        pytest.param(
            {"components": {"gpu_operator": True, "nvidia_device_plugin": True}},
            "helm.components.nvidia_device_plugin: true must be false while gpu_operator is on",
            "two would offer the same GPUs",
            id="two-gpu-plugins",
        ),
        pytest.param(
            {
                "components": {"gpu_operator": True},
                "values": {"nvidia-device-plugin": {"devicePlugin": {"enabled": True}}},
            },
            "helm.values.nvidia-device-plugin.devicePlugin.enabled: true must be false",
            "gpu_operator",
            id="two-gpu-plugins-by-value",
        ),
        pytest.param(
            {"components": {"team_role_bindings": True}},
            "helm.components.compute_quota_target_id: null (the default) must be set",
            "hyperpod-ns-<id>",
            id="no-team",
        ),
        pytest.param(
            {"components": {"compute_quota_target_id": "a"}},
            "helm.components.compute_quota_target_id: 'a' is for team_role_bindings, which is off",
            "",
            id="idle-team",
        ),
        pytest.param(
            {"components": {"team_role_bindings": True, "compute_quota_target_id": "a" * 52}},
            "helm.components.compute_quota_target_id: 'aaaa",
            "must be 1 to 51 lower-case letters",
            id="long-team",
        ),
        # keys and types
        pytest.param(
            {"components": {"mpi_operater": True}},
            "helm.components.mpi_operater: 'mpi_operater' is not a key here",
            "did you mean mpi_operator?",
            id="key",
        ),
        pytest.param(
            {"components": {"mpi_operator": "off"}},
            "helm.components.mpi_operator: 'off' must be true or false",
            "",
            id="type",
        ),
    ],
)
def test_mistake_gives_one_line(helm: dict[str, Any], start: str, part: str) -> None:
    (line,) = helm_lines(helm)

    assert line.startswith(start)
    assert part in line


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

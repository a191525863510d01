"""Rules on components, values and PriorityClasses: one mistake, one line, with its place."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.config import Config
from tests.conftest import Configure

Lines = Callable[[object], tuple[str, ...]]
AGENT = "health-monitoring-agent"
OPTIONAL_CONSENT = "or consent with i_know_this_breaks_resiliency: true"


@pytest.fixture
def helm_lines(
    default_document: dict[str, Any], lines_for: Lines
) -> Callable[[dict[str, Any]], tuple[str, ...]]:
    """Replace the `helm` section of the default configuration; return the refusal's lines."""
    return lambda helm: lines_for(default_document | {"helm": helm})


def classes(*names: str, **others: object) -> list[dict[str, object]]:
    return [{"name": name, "value": 1, **others} for name in names]


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
        # PriorityClasses
        pytest.param(
            {"priority_classes": classes("system-mine")},
            "helm.priority_classes[0].name: 'system-mine' must not start with system-",
            "Kubernetes",
            id="system",
        ),
        pytest.param(
            {"priority_classes": classes("training-priority")},
            "helm.priority_classes[0].name: 'training-priority' must not end with -priority",
            "task governance",
            id="governance",
        ),
        pytest.param(
            {"priority_classes": classes("Training")},
            "helm.priority_classes[0].name: 'Training' must be 1 to 63 lower-case letters",
            "",
            id="upper-case",
        ),
        pytest.param(
            {"priority_classes": classes("a", value=1_000_000_001)},
            "helm.priority_classes[0].value: 1000000001 must be -2147483648 to 1000000000",
            "",
            id="too-great",
        ),
        pytest.param(
            {"priority_classes": classes("a", preemption_policy="never")},
            "helm.priority_classes[0].preemption_policy: 'never' is not a policy",
            "did you mean Never?",
            id="policy",
        ),
        pytest.param(
            {"priority_classes": classes("a", "b", "a")},
            "helm.priority_classes[2].name: 'a' is already the name of [0]",
            "",
            id="twice",
        ),
        pytest.param(
            {"priority_classes": classes("a", "b", global_default=True)},
            "helm.priority_classes[1].global_default: true must be false, for it is true for a",
            "",
            id="two-defaults",
        ),
    ],
)
def test_mistake_gives_one_line(
    helm: dict[str, Any],
    start: str,
    part: str,
    helm_lines: Callable[[dict[str, Any]], tuple[str, ...]],
) -> None:
    (line,) = helm_lines(helm)

    assert line.startswith(start)
    assert part in line


def test_everything_that_breaks_resiliency_is_reported_at_once(
    helm_lines: Callable[[dict[str, Any]], tuple[str, ...]],
) -> None:
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


@pytest.fixture
def components(configure: Configure) -> Callable[[dict[str, Any]], dict[str, bool]]:
    """Change the `helm` section of the default configuration; return what is installed."""

    def switches(helm: dict[str, Any]) -> dict[str, bool]:
        config: Config = configure({"helm": helm})
        return config.hyperpod_components.switches()

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


@pytest.mark.parametrize("value", [None, [], classes("a", "b.c-d", global_default=False)])
def test_priority_classes_may_be_others_or_none(value: object, configure: Configure) -> None:
    listed = configure({"helm": {"priority_classes": value}}).helm.priority_classes

    assert [item.name for item in listed or ()] == (["a", "b.c-d"] if value else [])

"""The toggles as values of the official chart, and as objects of every chart that is at hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import dependency_values, values_for_chart
from hyperpod_cli.deliver.charts.manifest import parse_objects
from hyperpod_rehearsal.stand_in_chart import STAND_IN
from hyperpod_stacks.packaged_chart import OFFICIAL_CHART
from tests.conftest import Configure
from tests.support.chart_rendering import template
from tests.support.configs import REPOSITORY

RELEASE, NAMESPACE, REGION = "hyperpod-dependencies", "kube-system", "us-west-2"
TEAM = "research"
_MPI, _VERBS = f"{RELEASE}-mpi-operator", ("admin", "edit", "view")
_RESILIENCY = ("health_monitoring_agent", "deep_health_check", "job_auto_restart", "patching")
_OPTIONAL = (
    *("training_operator", "mpi_operator", "neuron_device_plugin", "efa_device_plugin"),
    *("mlflow", "cluster_role_bindings", "namespaced_role_bindings", "team_role_bindings"),
)
_EVERYTHING = {**dict.fromkeys((*_RESILIENCY, *_OPTIONAL), True), "compute_quota_target_id": TEAM}
_AS_NEEDED = {"components": {"neuron_device_plugin": None}}


def _on(*instance_types: str, helm: Mapping[str, Any] = _AS_NEEDED) -> dict[str, Any]:
    groups = [
        {"name": f"group-{index}", "instance_type": instance_type, "instance_count": 1}
        for index, instance_type in enumerate(instance_types)
    ]
    return {"cluster": {"instance_groups": groups}, "helm": helm}


# Changes of config/default.yaml, by name.
CASES: Mapping[str, dict[str, Any]] = {
    "default": {},
    "gpu-only": _on("ml.p5.48xlarge"),
    "neuron-only": _on("ml.trn1.32xlarge"),
    "cpu-only": _on("ml.m5.2xlarge"),
    "everything-on": _on("ml.p5.48xlarge", "ml.trn1.32xlarge", helm={"components": _EVERYTHING}),
    "consent-off": _on(
        "ml.g5.xlarge",
        helm={
            "components": {
                **dict.fromkeys(_RESILIENCY, False),
                **_AS_NEEDED["components"],
            },
            "i_know_this_breaks_resiliency": True,
        },
    ),
}
# No chart at hand contains the GPU operator, so its values only.
VALUES_CASES: Mapping[str, dict[str, Any]] = {
    **CASES,
    "everything-on-gpu-operator": _on(
        "ml.p5.48xlarge", helm={"components": {**_EVERYTHING, "gpu_operator": True}}
    ),
}


def _role(name: str) -> set[str]:
    """Return a role of the whole cluster, and its binding."""
    return {f"ClusterRole {name}", f"ClusterRoleBinding {name}"}


# What each component renders, `<Kind> <name>` or `<Kind> <namespace>/<name>`.
OBJECTS: Mapping[str, set[str]] = {
    "training_operator": {
        "Namespace kubeflow",
        f"Deployment kubeflow/{RELEASE}-training-operators",
        "Service kubeflow/training-operator",
        "ServiceAccount kubeflow/training-operator",
        *_role("training-operator"),
        *(f"ClusterRole kubeflow-training-{verb}" for verb in _VERBS),
        *(
            f"CustomResourceDefinition {plural}.kubeflow.org"
            for plural in ("mxjobs", "paddlejobs", "pytorchjobs", "tfjobs", "xgboostjobs")
        ),
    },
    "mpi_operator": {
        "Namespace mpi-operator",
        f"Deployment {NAMESPACE}/{_MPI}",
        f"ServiceAccount {NAMESPACE}/{_MPI}",
        *_role(_MPI),
        *(f"ClusterRole {_MPI}-kubeflow-mpijobs-{verb}" for verb in _VERBS),
        "CustomResourceDefinition mpijobs.kubeflow.org",
    },
    "nvidia_device_plugin": {
        f"DaemonSet kube-system/{RELEASE}-nvidia-device-plugin",
        f"DaemonSet kube-system/{RELEASE}-nvidia-device-plugin-mps-control-daemon",
    },
    "neuron_device_plugin": {
        "DaemonSet kube-system/neuron-device-plugin-daemonset",
        "ServiceAccount kube-system/neuron-device-plugin",
        *_role("neuron-device-plugin"),
    },
    "efa_device_plugin": {f"DaemonSet {NAMESPACE}/{RELEASE}-aws-efa-k8s-device-plugin"},
    "health_monitoring_agent": {
        "DaemonSet aws-hyperpod/health-monitoring-agent",
        "DaemonSet aws-hyperpod/health-monitoring-agent-non-nvidia",
        "ServiceAccount aws-hyperpod/health-monitoring-agent",
        *_role("health-monitoring-agent"),
    },
    "deep_health_check": {
        "Namespace aws-hyperpod",
        "ServiceAccount aws-hyperpod/deep-health-check-service-account",
        "ClusterRole deep-health-check-service-account-role",
        "ClusterRoleBinding deep-health-check-service-account-role-binding",
    },
    "job_auto_restart": {
        "ServiceAccount aws-hyperpod/job-auto-restart",
        *_role("job-auto-restart"),
    },
    "patching": _role("hyperpod-patching"),
    "mlflow": {"ServiceAccount kubeflow/mlflow-service-account1"},
    "cluster_role_bindings": {
        "ClusterRole hyperpod-scientist-user-cluster-role",
        "ClusterRoleBinding hyperpod-scientist-user-cluster-role-binding",
    },
    "namespaced_role_bindings": {
        "Role kubeflow/hyperpod-scientist-user-namespace-level-role",
        "RoleBinding kubeflow/hyperpod-scientist-user-namespace-level-role-binding",
    },
    "team_role_bindings": {
        f"ClusterRole hyperpod-ns-{TEAM}-cluster-role",
        f"ClusterRoleBinding hyperpod-ns-{TEAM}-cluster-role-binding",
        f"Role hyperpod-ns-{TEAM}/hyperpod-ns-{TEAM}-namespace-role",
        f"RoleBinding hyperpod-ns-{TEAM}/hyperpod-ns-{TEAM}-namespace-role-binding",
    },
}


_OFFICIAL = REPOSITORY / OFFICIAL_CHART
_CLUSTER_SCOPED = ("Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition")


@pytest.mark.parametrize("name", VALUES_CASES)
def test_values_are_as_reviewed(
    name: str, configure: Configure, snapshot: SnapshotAssertion
) -> None:
    config = configure(VALUES_CASES[name])

    values = dependency_values(config.helm, region=REGION, instance_types=config.instance_types)

    assert values == snapshot


@pytest.mark.parametrize("name", CASES)
def test_exactly_the_components_that_are_on_are_rendered(
    name: str, configure: Configure, tmp_path: Path
) -> None:
    config = configure(CASES[name])
    on = [component for component, is_on in config.components.switches().items() if is_on]
    # `hyperpod-cdk charts` needs the network: where it has not been run, the stand-in speaks for
    # both.
    for chart in [STAND_IN, *([_OFFICIAL] if _OFFICIAL.is_file() else [])]:
        values = values_for_chart(
            read_hyperpod_chart(chart),
            helm=config.helm,
            region=REGION,
            instance_types=config.instance_types,
        )
        assert rendered(chart, values=values, home=tmp_path) == {
            item for component in on for item in OBJECTS[component]
        }


def rendered(chart: Path, *, values: dict[str, Any], home: Path) -> set[str]:
    arguments = (RELEASE, chart, "--namespace", NAMESPACE, "--include-crds")
    text = template(*arguments, values=values, home=home)
    return {identity(item) for item in parse_objects(text).values()}


def identity(item: dict[str, Any]) -> str:
    """Name an object as the API server will: the official chart gives namespaces by chance."""
    kind, metadata = item["kind"], item["metadata"]
    if kind in _CLUSTER_SCOPED:
        return f"{kind} {metadata['name']}"
    return f"{kind} {metadata.get('namespace', NAMESPACE)}/{metadata['name']}"

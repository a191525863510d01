"""The stand-in for the chart of the HyperPod dependencies."""

from typing import Any

import pytest
import yaml

from hyperpod_emulator.testing.kubernetes_api import Cluster, running_cluster
from tests.support.configs import STAND_IN_CHART

RELEASE = "hyperpod-dependencies"
INSTALL = (RELEASE, str(STAND_IN_CHART), "-n", "kube-system")
# What the official chart renders by default, by kind, namespace and name.
OBJECTS = {
    "ClusterRole": {
        "/deep-health-check-service-account-role",
        "/health-monitoring-agent",
        "/hyperpod-dependencies-mpi-operator",
        "/hyperpod-dependencies-mpi-operator-kubeflow-mpijobs-admin",
        "/hyperpod-dependencies-mpi-operator-kubeflow-mpijobs-edit",
        "/hyperpod-dependencies-mpi-operator-kubeflow-mpijobs-view",
        "/hyperpod-patching",
        "/job-auto-restart",
        "/kubeflow-training-admin",
        "/kubeflow-training-edit",
        "/kubeflow-training-view",
        "/neuron-device-plugin",
        "/training-operator",
    },
    "ClusterRoleBinding": {
        "/deep-health-check-service-account-role-binding",
        "/health-monitoring-agent",
        "/hyperpod-dependencies-mpi-operator",
        "/hyperpod-patching",
        "/job-auto-restart",
        "/neuron-device-plugin",
        "/training-operator",
    },
    "CustomResourceDefinition": {
        f"/{plural}.kubeflow.org"
        for plural in ("mpijobs", "mxjobs", "paddlejobs", "pytorchjobs", "tfjobs", "xgboostjobs")
    },
    "DaemonSet": {
        "aws-hyperpod/health-monitoring-agent",
        "aws-hyperpod/health-monitoring-agent-non-nvidia",
        "kube-system/hyperpod-dependencies-aws-efa-k8s-device-plugin",
        "kube-system/hyperpod-dependencies-nvidia-device-plugin",
        "kube-system/hyperpod-dependencies-nvidia-device-plugin-mps-control-daemon",
        "kube-system/neuron-device-plugin-daemonset",
    },
    "Deployment": {
        "kube-system/hyperpod-dependencies-mpi-operator",
        "kubeflow/hyperpod-dependencies-training-operators",
    },
    "Namespace": {"/aws-hyperpod", "/kubeflow", "/mpi-operator"},
    "Service": {"kubeflow/training-operator"},
    "ServiceAccount": {
        "aws-hyperpod/deep-health-check-service-account",
        "aws-hyperpod/health-monitoring-agent",
        "aws-hyperpod/job-auto-restart",
        "kube-system/hyperpod-dependencies-mpi-operator",
        "kube-system/neuron-device-plugin",
        "kubeflow/training-operator",
    },
}
_PLUGIN = {
    "app.kubernetes.io/name": "nvidia-device-plugin",
    "app.kubernetes.io/instance": RELEASE,
}
# Which pods each object has, as the pinned charts render it: an upgrade from the stand-in to the
# official chart cannot change it. The first link is for all that have no other.
# https://github.com/aws/sagemaker-hyperpod-cli/tree/011ca927123e02b35a399935bbb3ab1905fe33c7/helm_chart/HyperPodHelmChart
SELECTORS = {
    "health-monitoring-agent": {"app": "health-monitoring-agent"},
    "health-monitoring-agent-non-nvidia": {"app": "health-monitoring-agent-non-nvidia"},
    "neuron-device-plugin-daemonset": {"name": "neuron-device-plugin-ds"},
    # https://github.com/aws/eks-charts/blob/18e37d7b/stable/aws-efa-k8s-device-plugin/templates/daemonset.yaml
    f"{RELEASE}-aws-efa-k8s-device-plugin": {"name": f"{RELEASE}-aws-efa-k8s-device-plugin"},
    # https://github.com/NVIDIA/k8s-device-plugin/tree/v0.16.1/deployments/helm/nvidia-device-plugin/templates
    f"{RELEASE}-nvidia-device-plugin": _PLUGIN,
    f"{RELEASE}-nvidia-device-plugin-mps-control-daemon": _PLUGIN,
    f"{RELEASE}-mpi-operator": {
        "app": "mpi-operator",
        "app.kubernetes.io/component": "mpijob",
        "app.kubernetes.io/instance": RELEASE,
        "app.kubernetes.io/name": "mpi-operator",
        "kustomize.component": "mpi-operator",
    },
    f"{RELEASE}-training-operators": {"control-plane": "kubeflow-training-operator"},
}


@pytest.fixture(scope="module")
def cluster(cluster: Cluster) -> Cluster:
    cluster.helm("install", *INSTALL)
    return cluster


@pytest.fixture(scope="module")
def default(cluster: Cluster) -> dict[str, set[str]]:
    """Return what the chart renders by default."""
    return identified(rendered(cluster))


def rendered(cluster: Cluster, *flags: str) -> list[dict[str, Any]]:
    """Return what the chart renders."""
    text = cluster.helm("template", *INSTALL, "--include-crds", *flags)
    return [item for item in yaml.safe_load_all(text) if item]


def identified(objects: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return `namespace/name` by kind."""
    found: dict[str, set[str]] = {}
    for item in objects:
        metadata = item["metadata"]
        key = f"{metadata.get('namespace', '')}/{metadata['name']}"
        found.setdefault(item["kind"], set()).add(key)
    return found


def test_it_renders_the_objects_of_the_official_chart(default: dict[str, set[str]]) -> None:
    assert default == OBJECTS


def test_its_selectors_are_those_of_the_official_chart(cluster: Cluster) -> None:
    found = [each for each in rendered(cluster) if each["kind"] in ("DaemonSet", "Deployment")]
    selectors = {each["metadata"]["name"]: each["spec"]["selector"] for each in found}
    labels = {each["metadata"]["name"]: each["spec"]["template"]["metadata"] for each in found}

    assert selectors == {name: {"matchLabels": wanted} for name, wanted in SELECTORS.items()}
    assert labels == {name: {"labels": wanted} for name, wanted in SELECTORS.items()}


def test_the_verify_commands_that_look_at_the_answer(cluster: Cluster) -> None:
    stored = "jsonpath={.status.storedVersions[]}"
    assert cluster.kubectl("get", "crd", "mpijobs.kubeflow.org", "-o", stored) == "v2beta1"
    [row] = cluster.helm("list", "-n", "kube-system").splitlines()[1:]
    for part in (RELEASE, "deployed", "hyperpod-helm-chart-0.1.0", "1.16.0"):
        assert part in row.split()


@pytest.mark.parametrize(
    ("switch", "gone"),
    [
        ("trainingOperators.enabled", "kubeflow/hyperpod-dependencies-training-operators"),
        ("trainingOperators.enabled", "/pytorchjobs.kubeflow.org"),
        (
            "nvidia-device-plugin.devicePlugin.enabled",
            f"kube-system/{RELEASE}-nvidia-device-plugin",
        ),
        (
            "aws-efa-k8s-device-plugin.devicePlugin.enabled",
            f"kube-system/{RELEASE}-aws-efa-k8s-device-plugin",
        ),
        (
            "neuron-device-plugin.devicePlugin.enabled",
            "kube-system/neuron-device-plugin-daemonset",
        ),
        ("mpi-operator.enabled", "/mpijobs.kubeflow.org"),
        ("health-monitoring-agent.enabled", "aws-hyperpod/health-monitoring-agent"),
        ("deep-health-check.enabled", "/aws-hyperpod"),
        ("job-auto-restart.enabled", "/job-auto-restart"),
        ("hyperpod-patching.enabled", "/hyperpod-patching"),
    ],
)
def test_each_component_can_be_left_out(
    cluster: Cluster, default: dict[str, set[str]], switch: str, gone: str
) -> None:
    before = set().union(*default.values())
    after = set().union(*identified(rendered(cluster, "--set", f"{switch}=false")).values())
    assert gone in before - after
    assert after < before


@pytest.mark.parametrize("component", ["storage", "inferenceOperators"])
def test_a_component_it_lacks_is_refused(cluster: Cluster, component: str) -> None:
    refused = cluster.try_helm("template", *INSTALL, "--set", f"{component}.enabled=true")
    assert f"{component}.enabled is true" in refused.error


@pytest.mark.parametrize(
    ("flag", "region"),
    [
        ("health-monitoring-agent.region=eu-west-1", "eu-west-1"),
        ("global.region=us-east-2", "us-east-2"),
        ("global.region=", "us-east-1"),
    ],
)
def test_the_agent_is_of_the_region(cluster: Cluster, flag: str, region: str) -> None:
    images = {
        item["metadata"]["name"]: item["spec"]["template"]["spec"]["containers"][0]["image"]
        for item in rendered(cluster, "--set", flag)
        if item["kind"] == "DaemonSet"
    }
    assert f".ecr.{region}." in images["health-monitoring-agent"]


@pytest.mark.parametrize(
    ("instance_type", "running"),
    [
        (
            "ml.g5.12xlarge",
            {"health-monitoring-agent", f"{RELEASE}-nvidia-device-plugin"}
            | {f"{RELEASE}-aws-efa-k8s-device-plugin"},
        ),
        ("ml.g5.xlarge", {"health-monitoring-agent", f"{RELEASE}-nvidia-device-plugin"}),
        (
            "ml.trn1.32xlarge",
            {"health-monitoring-agent-non-nvidia", "neuron-device-plugin-daemonset"}
            | {f"{RELEASE}-aws-efa-k8s-device-plugin"},
        ),
        ("ml.m5.2xlarge", set()),
    ],
)
def test_plugins_run_on_the_nodes_they_are_for(
    cluster: Cluster, instance_type: str, running: set[str]
) -> None:
    cluster.api.put_node("one", instance_type=instance_type)
    try:
        ready = {
            item["metadata"]["name"]
            for item in cluster.api.objects("apps/v1", "DaemonSet")
            if item["status"]["numberReady"] == 1
        }
        assert ready == running
        operators = cluster.api.objects("apps/v1", "Deployment")
        assert all(item["status"].get("readyReplicas") == 1 for item in operators)
    finally:
        cluster.api.remove_node("one")


def test_its_definitions_take_jobs(cluster: Cluster) -> None:
    job: dict[str, Any] = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "trains", "namespace": "default"},
        "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": {}}}}},
    }
    cluster.kubectl("apply", "-f", "-", stdin=job)
    assert "trains" in cluster.kubectl("get", "pytorchjobs")
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = -1
    assert "replicas" in cluster.try_kubectl("apply", "-f", "-", stdin=job).error


def test_upgrade_then_uninstall_leave_what_helm_leaves(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with running_cluster(tmp_path_factory.mktemp("home")) as cluster:
        cluster.helm("install", *INSTALL)
        cluster.helm("upgrade", *INSTALL, "--set", "trainingOperators.enabled=false")
        assert not cluster.try_kubectl("get", "ns", "kubeflow").ok
        cluster.helm("uninstall", RELEASE, "-n", "kube-system")
        left = {kind: cluster.api.objects("apps/v1", kind) for kind in ("DaemonSet", "Deployment")}
        assert left == {"DaemonSet": [], "Deployment": []}
        definitions = cluster.kubectl("get", "crd", "-o", "name")
        assert "mpijobs" not in definitions
        assert "pytorchjobs" in definitions  # helm never deletes what came from crds/

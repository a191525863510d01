"""The policies of editors' namespaces: what their pods are held to of Pod Security Standards."""

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster, running_cluster
from tests.support.chart_rendering import assert_sound, objects
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "namespace-isolation"
VALUES = {
    "namespaces": ["team-a", "dev-*"],
    "privileged": ["dev-gpu"],
    "made": [{"name": "team-a"}],
}
DEVICES = "NVIDIA_VISIBLE_DEVICES"
FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}
PRIVILEGED: dict[str, Any] = {"securityContext": {"privileged": True}}


def pod(
    name: str, namespace: str, *, container: dict[str, Any] | None = None, **spec: object
) -> dict[str, Any]:
    containers = [{"name": "one", "image": "one", **(container or {})}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": containers, **spec},
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster with the policy, which the namespaces are made after."""
    home = tmp_path_factory.mktemp("isolation")
    assert_sound(CHART, values=VALUES, home=home)
    with running_cluster(home) as running:
        running.kubectl("apply", "-f", "-", stdin=objects(CHART, values=VALUES, home=home))
        for name in ("dev-x", "dev-gpu", "team-ab"):
            running.kubectl("create", "namespace", name)
        yield running


@pytest.mark.parametrize(
    ("field", "container", "spec"),
    [
        ("privileged", PRIVILEGED, {}),
        ("privileged", {}, {"initContainers": [{"name": "i", "image": "i", **PRIVILEGED}]}),
        ("hostNetwork, hostPID and hostIPC", {}, {"hostNetwork": True}),
        ("hostNetwork, hostPID and hostIPC", {}, {"hostPID": True}),
        ("hostNetwork, hostPID and hostIPC", {}, {"hostIPC": True}),
        ("volumes", {}, {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
        ("ports", {"ports": [{"containerPort": 80, "hostPort": 80}]}, {}),
        ("capabilities", {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}, {}),
        ("procMount", {"securityContext": {"procMount": "Unmasked"}}, {}),
        ("seccomp", {}, {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}),
        ("appArmor", {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, {}),
        ("seLinux", {}, {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}),
        ("seLinux", {}, {"securityContext": {"seLinuxOptions": {"user": "system_u"}}}),
        (
            "sysctls",
            {},
            {"securityContext": {"sysctls": [{"name": "kernel.sem", "value": "1"}]}},
        ),
        ("windows", {"securityContext": {"windowsOptions": {"hostProcess": True}}}, {}),
        ("env NVIDIA_VISIBLE_DEVICES", {"env": [{"name": DEVICES, "value": "all"}]}, {}),
        ("env NVIDIA_VISIBLE_DEVICES", {"env": [{"name": DEVICES, "value": ""}]}, {}),
        ("env NVIDIA_VISIBLE_DEVICES", {"env": [{"name": DEVICES, "valueFrom": FIELD}]}, {}),
        # The kubelet puts a container's own after that of the device plugin.
        (
            "env NVIDIA_VISIBLE_DEVICES",
            {
                "env": [{"name": DEVICES, "value": "0,1"}],
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
            },
            {},
        ),
        ("host of", {"livenessProbe": {"httpGet": {"host": "10.0.0.1", "port": 80}}}, {}),
        ("host of", {"lifecycle": {"preStop": {"tcpSocket": {"host": "::1", "port": 80}}}}, {}),
    ],
)
def test_what_makes_root_of_a_node_is_refused(
    cluster: Cluster, field: str, container: dict[str, Any], spec: dict[str, Any]
) -> None:
    wanted = pod("bad", "dev-x", container=container, **spec)

    done = cluster.try_kubectl("create", "-f", "-", stdin=wanted)

    assert not done.ok
    assert f"denied request: {field}" in done.error
    assert "eks.editors[].privileged_namespaces" in done.error


def test_an_annotation_does_not_lift_app_armor(cluster: Cluster) -> None:
    wanted = pod("annotated", "team-a")
    key = "container.apparmor.security.beta.kubernetes.io/one"
    wanted["metadata"]["annotations"] = {key: "unconfined"}

    assert "AppArmor annotations" in cluster.try_kubectl("create", "-f", "-", stdin=wanted).error


def test_pods_of_jobs_that_train_are_admitted(cluster: Cluster) -> None:
    training = pod(
        "training",
        "team-a",
        container={
            "resources": {"limits": {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}},
            "securityContext": {"capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}},
            "ports": [{"containerPort": 23456}],
            "readinessProbe": {"httpGet": {"port": 80}},
            "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
        },
        securityContext={"runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        volumes=[
            {"name": "scratch", "emptyDir": {"medium": "Memory"}},
            {"name": "fsx", "persistentVolumeClaim": {"claimName": "fsx"}},
        ],
    )

    training["spec"]["containers"][0]["env"] = [{"name": DEVICES, "value": "void"}]
    cluster.kubectl("create", "-f", "-", stdin=training)


@pytest.mark.parametrize("namespace", ["dev-gpu", "team-ab", "kube-system"])
def test_other_namespaces_and_privileged_ones_are_as_they_were(
    cluster: Cluster, namespace: str
) -> None:
    wanted = pod("privileged", namespace, container=PRIVILEGED)

    cluster.kubectl("create", "-f", "-", stdin=wanted)
    # What runs already can still be labelled, as controllers do.
    cluster.kubectl("label", "pod", "privileged", "a=b", "--namespace", namespace)

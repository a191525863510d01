"""Pods whose images this machine can run are processes of it."""

import base64
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_emulator.node.health_agent import HEALTH, HealthAgent
from hyperpod_emulator.node.kubelet import Kubelet
from hyperpod_emulator.testing.kubernetes_api import daemon_set
from hyperpod_emulator.testing.patience import PATIENCE_SECONDS

IMAGE = "registry.invalid/runnable"
GPU = "nvidia.com/gpu"


@pytest.fixture
def api() -> KubernetesApi:
    made = KubernetesApi(authenticate=static_tokens({}))
    made.put_node("node", instance_type="ml.g5.xlarge", capacity={"cpu": "4", "memory": "8Gi"})
    return made


@pytest.fixture
def kubelet(
    api: KubernetesApi,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Kubelet]:
    """A kubelet that leaves nothing on the machine when it stops."""
    folders = tmp_path_factory.mktemp("pods")
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    made = Kubelet(
        api=api, images={IMAGE: {"PATH": os.defpath}}, claims={"fsx-claim": tmp_path / "fsx"}
    )
    yield made
    made.stop()
    assert [*folders.iterdir()] == []


def create(
    api: KubernetesApi, command: str, *, name: str = "pod", image: str = IMAGE, **spec: Any
) -> None:
    """Make a pod of one container, which runs a line of shell."""
    container = {"name": "main", "image": image, "command": ["sh", "-c", command]}
    container |= spec.pop("container", {})
    metadata = {"name": name, "namespace": "default", "labels": {"app": name}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    api.create({**pod, "spec": {"containers": [container], "restartPolicy": "Never", **spec}})


def pod(api: KubernetesApi, name: str = "pod") -> dict[str, Any]:
    found = [each for each in api.objects("v1", "Pod") if each["metadata"]["name"] == name]
    return found[0] if found else {}


def wait(kubelet: Kubelet, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not until():
        assert time.monotonic() < deadline, kubelet.lines
        kubelet.reconcile()
        time.sleep(0.01)


def has_ended(api: KubernetesApi) -> bool:
    return pod(api).get("status", {}).get("phase") in ("Succeeded", "Failed")


def said(kubelet: Kubelet) -> list[str]:
    return [line.text.strip() for line in kubelet.lines]


ENV = [
    {"name": "PLAIN", "value": "one"},
    {"name": "MADE", "value": "$(PLAIN)-$(NONE)"},
    {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},
    {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
    {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
]
FROM = [
    {"secretRef": {"name": "s"}},
    {"secretRef": {"name": "s"}, "prefix": "MY_"},
    {"configMapRef": {"name": "none", "optional": True}},
]
MOUNTED = {
    "volumeMounts": [{"name": "data", "mountPath": "/fsx"}, {"name": "own", "mountPath": "/own"}]
}
VOLUMES = [
    {"name": "data", "persistentVolumeClaim": {"claimName": "fsx-claim"}},
    {"name": "own", "emptyDir": {}},
]


@pytest.mark.parametrize(
    ("command", "spec", "ends"),
    [
        ("echo $HOSTNAME; echo twice >&2", {}, ("Succeeded", ["pod", "twice"])),
        ("exit 3", {}, ("Failed", [])),
        ("kill -9 $$", {}, ("Failed", [])),
        (
            "echo $PLAIN $MADE $TOKEN $APP $WHERE$TMPDIR$USER",
            {"container": {"env": ENV}},
            ("Succeeded", ["one one-$(NONE) secret pod node"]),
        ),
        (
            "echo $token $MY_token $WHO$GONE",
            {"container": {"envFrom": FROM, "env": [{"name": "WHO", "value": "$(token)"}]}},
            ("Succeeded", ["secret secret secret"]),
        ),
        (
            "echo $token",
            {"container": {"envFrom": FROM, "env": [{"name": "token", "value": "own"}]}},
            ("Succeeded", ["own"]),
        ),
        (
            "echo kept > /fsx/file; echo own > /own/file; cat /fsx/file; ls /fsx/..",
            {"container": MOUNTED, "volumes": VOLUMES},
            ("Succeeded", ["kept", "fsx"]),
        ),
        (
            "cat /etc/s/token; echo; basename $FILE",
            {
                "container": {
                    "env": [{"name": "FILE", "value": "/etc/s/token"}],
                    "volumeMounts": [{"name": "keys", "mountPath": "/etc/s", "readOnly": True}],
                },
                "volumes": [{"name": "keys", "secret": {"secretName": "s"}}],
            },
            ("Succeeded", ["secret", "token"]),
        ),
    ],
)
def test_a_pod_runs_with_what_it_names_and_says_how_it_ended(
    api: KubernetesApi, kubelet: Kubelet, command: str, spec: dict[str, Any], ends: object
) -> None:
    token = base64.b64encode(b"secret").decode()
    metadata = {"name": "s", "namespace": "default"}
    api.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"token": token}}
    )
    create(api, command, **spec)
    wait(kubelet, lambda: has_ended(api))
    assert (pod(api)["status"]["phase"], said(kubelet)) == ends


def test_a_pod_that_fails_is_started_again_in_its_place(
    api: KubernetesApi, kubelet: Kubelet, tmp_path: Path
) -> None:
    create(
        api,
        "echo try; [ -e /fsx/tried ] || { touch /fsx/tried; exit 1; }",
        container=MOUNTED,
        volumes=VOLUMES,
        restartPolicy="OnFailure",
    )
    wait(kubelet, lambda: has_ended(api))
    [container] = pod(api)["status"]["containerStatuses"]
    assert (container["restartCount"], container["state"]["terminated"]["exitCode"]) == (1, 0)
    assert said(kubelet) == ["try", "try"]
    assert (tmp_path / "fsx" / "tried").exists()


# Its child leaves the group and the session of the first process.
LASTING = "trap '%s' TERM; setsid sh -c 'trap \"\" TERM; echo $$; sleep 600' & wait; sleep 600"


@pytest.mark.parametrize(
    ("on_term", "grace", "gone"),
    [
        ("echo saved; exit", 600, "pod"),
        ("echo saved", 1, "pod"),
        ("echo saved; exit", 600, "node"),
    ],
)
def test_a_deleted_pod_ends_with_grace_and_one_of_a_lost_node_without(
    api: KubernetesApi, kubelet: Kubelet, on_term: str, grace: int, gone: str
) -> None:
    create(api, LASTING % on_term, terminationGracePeriodSeconds=grace)
    wait(kubelet, lambda: len(kubelet.lines) == 1)
    child = Path("/proc", said(kubelet)[0])
    assert child.exists()
    if gone == "pod":
        api.delete("v1", "Pod", "pod", namespace="default")
    else:
        api.remove_node("node")
    wait(kubelet, lambda: not pod(api))
    assert not child.exists() or "Z (zombie)" in (child / "status").read_text()
    assert ("saved" in said(kubelet)) is (gone == "pod")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"nodeSelector": {"pool": "none"}}, None),
        ({"container": {"resources": {"limits": {GPU: "1"}}}}, None),
        ({"container": {"resources": {"requests": {"cpu": "3"}}}}, None),
        ({"container": {"env": [ENV[2]]}}, "CreateContainerConfigError"),
        ({"container": {"envFrom": FROM[:1]}}, "CreateContainerConfigError"),
    ],
)
def test_a_pod_waits_for_a_node_that_takes_it_and_for_what_it_names(
    api: KubernetesApi, kubelet: Kubelet, spec: dict[str, Any], reason: str | None
) -> None:
    requests = {"requests": {"cpu": "2"}}
    create(api, "sleep 600", name="other", container={"resources": requests})
    kubelet.reconcile()
    create(api, "echo no", **spec)
    for _ in range(3):
        kubelet.reconcile()
    assert pod(api)["status"]["phase"] == "Pending"
    states = [each["state"] for each in pod(api)["status"].get("containerStatuses", ())]
    assert states[:1] == ([] if reason is None else states)
    assert reason is None or states[0]["waiting"]["reason"] == reason
    assert said(kubelet) == []


def test_pods_of_other_images_are_left_alone(api: KubernetesApi, kubelet: Kubelet) -> None:
    create(api, "echo no", image="registry.invalid/other")
    before = pod(api)
    kubelet.reconcile()
    assert pod(api) == before


FIRST = """
import os, pathlib, socket, time
print(os.environ["MEET"], flush=True)
while not pathlib.Path("/fsx/go").exists():
    time.sleep(0.01)
if os.environ["HOSTNAME"] == "first":
    server = socket.create_server(("127.0.0.1", int(os.environ["MEET"].partition(":")[2])))
time.sleep(600)
"""


def test_a_name_of_a_headless_service_is_a_port_of_its_pod(
    api: KubernetesApi, kubelet: Kubelet, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        spec = {"clusterIP": "None", "selector": {"app": name}, "ports": [{"port": 23456}]}
        metadata = {"name": name, "namespace": "default"}
        api.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
        container = {
            "ports": [{"containerPort": 23456}],
            "env": [{"name": "MEET", "value": "first:23456"}],
            "command": [sys.executable, "-c", FIRST],
            **MOUNTED,
        }
        create(api, "", name=name, container=container, volumes=VOLUMES)
    wait(kubelet, lambda: bool(kubelet.lines))
    for _ in range(3):
        kubelet.reconcile()
    [met] = said(kubelet)
    host, port = met.split(":")
    assert (kubelet.lines[0].pod, host, port != "23456") == ("first", "127.0.0.1", True)
    (tmp_path / "fsx" / "go").touch()
    wait(kubelet, lambda: len(kubelet.lines) == len(("first", "second")))
    assert said(kubelet) == [met, met]


XID = "Nov 23 20:00:00 node kernel: NVRM: Xid (PCI:0000:b9:00): %s, pid='<unknown>', fatal error\n"


@pytest.mark.parametrize(
    ("log", "health"),
    [
        (None, "Schedulable"),
        ("Nov 23 20:00:00 node kernel: NVRM: loading\n", "Schedulable"),
        (XID % 13, "Schedulable"),
        (XID % 73, "UnschedulablePendingReboot"),
        (XID % 13 + XID % 74, "UnschedulablePendingReplacement"),
    ],
)
def test_the_health_agent_marks_a_node_by_its_kernel_log(
    api: KubernetesApi, tmp_path: Path, log: str | None, health: str
) -> None:
    api.create(daemon_set("health-monitoring-agent", nodeSelector={"gpu": "yes"}))
    labels = {HEALTH: "Schedulable"}
    api.put_node("node", instance_type="ml.g5.xlarge", labels={**labels, "gpu": "yes"})
    api.put_node("cpu", instance_type="ml.m5.xlarge", labels=labels)
    agent = HealthAgent(api, tmp_path)
    for name in ("node", "cpu"):
        agent.log_of(name).parent.mkdir(parents=True)
        if log is not None:
            agent.log_of(name).write_text(log, encoding="utf-8")
    agent.reconcile()
    found = {
        node["metadata"]["name"]: node["metadata"]["labels"][HEALTH]
        for node in api.objects("v1", "Node")
    }
    assert found == {"node": health, "cpu": "Schedulable"}


SERVER = """
import socket
import sys
server = socket.create_server(("0.0.0.0", PORT))
print("listens", flush=True)
while True:
    server.accept()[0].sendall(b"met")
"""


def test_pods_reach_each_other_and_the_machine_reaches_none(
    api: KubernetesApi, kubelet: Kubelet
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
    python = {"command": [sys.executable, "-c", SERVER.replace("PORT", str(port))]}
    create(api, "", name="server", container=python)
    wait(kubelet, lambda: said(kubelet) == ["listens"])
    client = f"import socket; print(socket.create_connection(('127.0.0.1', {port})).recv(3))"
    create(api, "", container={"command": [sys.executable, "-c", client]})
    wait(kubelet, lambda: has_ended(api))
    assert said(kubelet)[1:] == ["b'met'"]

    with socket.socket() as neighbor:
        is_reached = neighbor.connect_ex(("127.0.0.1", port)) == 0
    # Where the kernel gives nobody but root a namespace, the pods have the machine's network.
    assert is_reached != kubelet.network.is_private


def test_a_machine_without_namespaces_runs_pods_in_its_own_network(
    api: KubernetesApi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "defpath", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bare = Kubelet(api=api, images={IMAGE: {"PATH": "/usr/bin:/bin"}}, claims={})
    create(api, "echo runs")
    wait(bare, lambda: has_ended(api))
    bare.stop()

    assert (said(bare), bare.network.is_private) == (["runs"], False)

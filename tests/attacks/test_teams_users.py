"""A pod that reaches files runs as a user of its own team, and looking on is not writing."""

from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import VIEWER, Cluster
from tests.support.chart_rendering import objects
from tests.support.configs import REPOSITORY
from tests.support.isolated_cluster import USERS, create, team_object, team_pod

_Context = dict[str, Any] | None
_OWN, _OTHERS = USERS["team-c"][0], USERS["team-d"][0]
_FILES = [{"name": "files", "persistentVolumeClaim": {"claimName": "fsx-claim"}}]
_CLOSED = {"allowPrivilegeEscalation": False}
_SELF = {"runAsUser": _OWN, "runAsGroup": _OWN}


def _pod(
    name: str, *, pod: _Context = None, container: _Context = None, **spec: Any
) -> dict[str, Any]:
    made = team_pod(name=name, namespace="team-c", **spec)
    contexts = {"securityContext": pod}, {"securityContext": container}
    for place, context in zip((made["spec"], made["spec"]["containers"][0]), contexts, strict=True):
        place |= {key: value for key, value in context.items() if value is not None}
    return made


def _aside(**context: Any) -> dict[str, Any]:
    return {"name": "aside", "image": "registry.invalid/aside:1", "securityContext": context}


@pytest.mark.parametrize(
    ("why", "pod", "container", "spec"),
    [
        ("runAsUser", {**_SELF, "runAsUser": _OTHERS}, _CLOSED, {}),
        ("runAsUser", _SELF, {**_CLOSED, "runAsUser": _OTHERS}, {}),
        ("runAsUser", {**_SELF, "runAsUser": 0}, _CLOSED, {}),
        ("runAsUser", {**_SELF, "runAsUser": USERS["team-c"][1] + 1}, _CLOSED, {}),
        # As whom its image says, which may be anybody.
        ("runAsGroup", None, _CLOSED, {}),
        ("runAsUser", {"runAsNonRoot": True, "runAsGroup": _OWN}, _CLOSED, {}),
        ("runAsUser", _SELF, _CLOSED, {"initContainers": [_aside(**_CLOSED, runAsUser=0)]}),
        ("runAsGroup", {**_SELF, "runAsGroup": _OTHERS}, _CLOSED, {}),
        ("runAsGroup", {"runAsUser": _OWN}, _CLOSED, {}),
        ("fsGroup and supplementalGroups", {**_SELF, "fsGroup": _OTHERS}, _CLOSED, {}),
        ("fsGroup and supplementalGroups", {**_SELF, "supplementalGroups": [_OTHERS]}, _CLOSED, {}),
        # A program of root's in the image.
        ("allowPrivilegeEscalation", _SELF, None, {}),
        ("allowPrivilegeEscalation", _SELF, _CLOSED, {"initContainers": [_aside()]}),
    ],
)
def test_pod_as_a_user_of_others(
    cluster: Cluster, why: str, pod: _Context, container: _Context, spec: dict[str, Any]
) -> None:
    wanted = _pod("attack", pod=pod, container=container, volumes=_FILES, **spec)

    done = create(cluster, wanted)

    assert f"denied request: securityContext.{why}" in done.error


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("own", _pod("own", pod=_SELF, container=_CLOSED, volumes=_FILES)),
        (
            "last",
            _pod(
                "last",
                container={**_CLOSED, **dict.fromkeys(_SELF, USERS["team-c"][1])},
                volumes=_FILES,
            ),
        ),
        (
            "groups",
            _pod("groups", pod={**_SELF, "fsGroup": _OWN + 1}, container=_CLOSED, volumes=_FILES),
        ),
        # A job of docs/run-a-job.md without files runs as its image says.
        ("bare", _pod("bare", volumes=[{"name": "memory", "emptyDir": {"medium": "Memory"}}])),
    ],
)
def test_pod_of_the_team_passes(cluster: Cluster, name: str, wanted: dict[str, Any]) -> None:
    done = create(cluster, wanted)

    assert done.ok, done.error
    cluster.kubectl("label", "pod", name, "a=b", "--namespace", "team-c")


@pytest.mark.parametrize("is_of_team", [True, False])
def test_job_of_the_chart_runs_as_the_team(
    cluster: Cluster, tmp_path: Path, is_of_team: bool
) -> None:
    values: dict[str, Any] = {
        "name": f"job-{is_of_team}".lower(),
        "image": "one",
        "instanceType": "ml.p4d.24xlarge",
        "nodes": 1,
    }
    owned = {"user": _OWN, "userOwnsClaim": True} if is_of_team else {}
    made = objects(
        REPOSITORY / "charts" / "training",
        "--namespace",
        "team-c",
        values=values | owned,
        home=tmp_path,
    )
    [job] = [each for each in made if each["kind"] == "PyTorchJob"]
    spec = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    spec.pop("priorityClassName", None)
    for container in spec["containers"]:
        container["resources"] = {}

    done = create(cluster, team_object("Pod", namespace="team-c", name=values["name"], spec=spec))

    assert done.ok is is_of_team, done.error


_WRITES = [
    ("create", "configmap", "mine"),
    ("run", "mine", "--image", "one"),
    ("delete", "pods", "--all"),
    ("exec", "own", "--", "id"),
    ("auth", "can-i", "get", "secrets"),
]


@pytest.mark.parametrize("command", _WRITES)
def test_viewer_writes_nothing_and_reads_no_secret(
    cluster: Cluster, command: tuple[str, ...]
) -> None:
    assert not cluster.try_kubectl(*command, "--namespace", "team-c", token=VIEWER).ok


def test_viewer_looks_on(cluster: Cluster) -> None:
    assert cluster.try_kubectl("get", "pods", "--namespace", "team-c", token=VIEWER).ok

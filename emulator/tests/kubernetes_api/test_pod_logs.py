"""The real kubectl reads what containers have written."""

from threading import Timer
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster

LINES = "one\ntwo\nthree\n"


def start(cluster: Cluster, name: str, *containers: str, state: str = "running") -> None:
    """Make a pod whose first container has written three lines."""
    listed = [{"name": each, "image": "registry.invalid/a"} for each in containers]
    metadata = {"name": name, "namespace": "default"}
    cluster.api.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": listed}}
    )
    reach(cluster, name, *containers, state=state)
    cluster.api.write_log(name, LINES, namespace="default", container=containers[0])


def reach(cluster: Cluster, name: str, *containers: str, state: str) -> None:
    """Let the containers of a pod be in a state."""
    detail: dict[str, Any] = {"reason": "ContainerCreating"} if state == "waiting" else {}
    statuses = [{"name": each, "state": {state: detail}} for each in containers]
    status = {"containerStatuses": statuses}
    cluster.api.set_status("v1", "Pod", name, status, namespace="default")


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ([], LINES),
        (["--container=main"], LINES),
        (["--tail=2"], "two\nthree\n"),
        (["--tail=0"], ""),
        (["--tail=9"], LINES),
    ],
)
def test_kubectl_reads_a_log(cluster: Cluster, options: list[str], read: str) -> None:
    name = "read" + "".join(options).replace("=", "")
    start(cluster, name, "main")
    assert cluster.kubectl("logs", name, *options) == read


@pytest.mark.parametrize(
    ("containers", "state", "options", "refusal"),
    [
        (["main"], "waiting", [], "is waiting to start: ContainerCreating"),
        (["main", "side"], "running", ["-c", "none"], "container none is not valid for pod"),
    ],
)
def test_a_log_that_is_not_there_is_refused(
    cluster: Cluster, containers: list[str], state: str, options: list[str], refusal: str
) -> None:
    name = f"refused-{state}"
    start(cluster, name, *containers, state=state)
    assert refusal in cluster.try_kubectl("logs", name, *options).error


def test_kubectl_follows_a_log_to_its_end(cluster: Cluster) -> None:
    start(cluster, "followed", "main")

    def end() -> None:
        cluster.api.write_log("followed", "four\n", namespace="default", container="main")
        reach(cluster, "followed", "main", state="terminated")

    Timer(0.5, end).start()
    # With its last lines alone, a slow kubectl would come after them.
    assert cluster.kubectl("logs", "--follow", "followed") == "one\ntwo\nthree\nfour\n"

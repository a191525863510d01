"""Charts whose objects are a job: rendered by the real helm, submitted to a Kubernetes API."""

from contextlib import nullcontext
from pathlib import Path
from threading import Thread

import pytest
from kubernetes.client import ApiClient

from hyperpod_cli.aws.kubernetes_api import condition
from hyperpod_cli.operate import job_charts
from hyperpod_cli.operate.job_charts import (
    Log,
    delete,
    is_served,
    live,
    pods,
    rendered,
    submit,
)
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import config_map, pod
from tests.conftest import Raises
from tests.support.patience import PATIENCE_SECONDS, eventually

CLASSES = {"classes": [{"name": "training", "value": 1}]}


def test_settings_win_over_values_and_these_over_files(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("classes: [{name: of-a-file, value: 2}]")
    [item] = rendered(
        "priority-classes",
        name="a",
        namespace="b",
        values=CLASSES,
        files=[file],
        settings=["classes[0].value=3"],
    )
    assert (item["metadata"]["name"], item["value"]) == ("training", 3)


def test_objects_are_submitted_found_and_deleted(api: ApiClient) -> None:
    objects = [
        *rendered("priority-classes", name="a", namespace="default", values=CLASSES),
        config_map("settings", key="1"),
    ]
    submit(api, objects)
    submit(api, [config_map("settings", key="2")])
    now = live(api, objects[1])
    assert now is not None
    assert now["data"] == {"key": "2"}
    assert now["metadata"]["managedFields"][0]["operation"] == "Apply"
    assert delete(api, [*objects, config_map("other")]) == objects
    assert [live(api, item) for item in objects] == [None, None]


def test_a_kind_that_is_not_installed(api: ApiClient, raises: Raises) -> None:
    known = ("kubeflow.org/v1", "PyTorchJob")
    job = {"apiVersion": known[0], "kind": known[1], "metadata": {"name": "a"}}
    assert is_served(api, "v1", "Pod")
    assert not is_served(api, *known)
    assert live(api, job) is None
    assert delete(api, [job]) == []
    with raises(OpsError):
        submit(api, [job])


def test_a_condition_holds_or_not() -> None:
    held = {"type": "Succeeded", "status": "True"}
    item = {"status": {"conditions": [{"type": "Failed", "status": "False"}, held]}}
    assert condition(item, "Succeeded") == held
    assert condition(item, "Failed") is None
    assert condition({}, "Failed") is None


def start(kubernetes: KubernetesApi, name: str, *, state: str = "running") -> None:
    kubernetes.create(pod(name, labels={"job": "a"}))
    reach(kubernetes, name, state)


def reach(kubernetes: KubernetesApi, name: str, state: str) -> None:
    detail = {"reason": "Any"} if state == "waiting" else {}
    status = {"containerStatuses": [{"name": "main", "state": {state: detail}}]}
    kubernetes.set_status("v1", "Pod", name, status, namespace="default")


def write(kubernetes: KubernetesApi, name: str, *lines: str) -> None:
    text = "".join(f"{line}\n" for line in lines)
    kubernetes.write_log(name, text, namespace="default", container="main")


def log_of(api: ApiClient, name: str) -> Log:
    return Log(lambda: nullcontext(api), pod(name))


def test_a_log_is_followed_over_silence_until_the_container_ends(
    kubernetes: KubernetesApi, api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_charts, "_SILENCE_SECONDS", 1.0)
    start(kubernetes, "a-0")
    write(kubernetes, "a-0", "one", "two")
    [first] = pods(api, namespace="default", labels={"job": "a"})
    assert first["metadata"]["name"] == "a-0"
    opened: list[str] = []

    def connect() -> nullcontext[ApiClient]:
        opened.append("a-0")
        return nullcontext(api)

    log = Log(connect, first)
    seen: list[str] = []
    reader = Thread(target=lambda: seen.extend(log.lines()))
    reader.start()
    # After that silence the log is opened anew.
    eventually(lambda: len(opened) > 1)
    write(kubernetes, "a-0", "drei €", "four")
    reach(kubernetes, "a-0", "terminated")
    reader.join(PATIENCE_SECONDS)
    assert seen == ["one", "two", "drei €", "four"]
    assert [*log.lines()] == []


@pytest.mark.parametrize("state", ["waiting", "gone"])
def test_a_container_that_has_no_log_has_no_lines(
    kubernetes: KubernetesApi, api: ApiClient, state: str
) -> None:
    if state != "gone":
        start(kubernetes, "b-0", state=state)
    assert [*log_of(api, "b-0").lines()] == []

"""A job while it is followed, and what ends that."""

from collections.abc import Iterator
from contextlib import nullcontext
from threading import Thread
from typing import Any

import pytest
from kubernetes.client import ApiClient
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.operate.job_charts import submit
from hyperpod_cli.operate.training import command
from hyperpod_cli.operate.training.following import follow
from hyperpod_cli.operate.training.request import JobRequest
from hyperpod_cli.terminal.errors import FailedError, OpsError
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import pod
from tests.cli.operate.training.conftest import STOP, asked
from tests.support.commands import run_only
from tests.support.patience import PATIENCE_SECONDS, eventually


class Follower:
    """Follows the job `llama` in a thread, as a user does in a terminal."""

    def __init__(self, api: ApiClient, request: JobRequest) -> None:
        self.shown: list[str] = []
        self.told: list[str] = []
        self.error: Exception | None = None
        self._thread = Thread(target=self._follow, args=(api, request))
        self._thread.start()

    def _follow(self, api: ApiClient, request: JobRequest) -> None:
        try:
            follow(
                lambda: nullcontext(api),
                request.job,
                show=self.shown.append,
                tell=self.told.append,
                seconds=0.05,
            )
        except OpsError as error:
            self.error = error

    def wait(self) -> None:
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()

    def until_told(self, text: str) -> None:
        eventually(lambda: any(text in line for line in self.told) or not self._thread.is_alive())
        assert any(text in line for line in self.told), self.told


def set_worker(kubernetes: KubernetesApi, state: str, **detail: Any) -> None:
    status = {"containerStatuses": [{"name": "main", "state": {state: detail}}]}
    kubernetes.set_status("v1", "Pod", "llama-worker-0", status, namespace="default")


def set_job(kubernetes: KubernetesApi, kind: str, message: str = "") -> None:
    status = {"conditions": [{"type": kind, "status": "True", "message": message}]}
    kubernetes.set_status("kubeflow.org/v1", "PyTorchJob", "llama", status, namespace="default")


@pytest.fixture
def follower(api: ApiClient, config: Config, ready: KubernetesApi) -> Iterator[Follower]:
    assert ready.objects("kubeflow.org/v1", "PyTorchJob") == []
    ready.operate("PyTorchJob")
    request = asked(config)
    submit(api, request.objects)
    made = Follower(api, request)
    yield made
    made.wait()


def test_a_job_is_followed_from_the_queue_to_its_end(
    follower: Follower, ready: KubernetesApi, snapshot: SnapshotAssertion
) -> None:
    follower.until_told("waits for its operator")
    for number in ("1", "0"):
        prefix = "training.kubeflow.org"
        labels = {f"{prefix}/job-name": "llama", f"{prefix}/replica-index": number}
        ready.create(pod(f"llama-worker-{number}", labels=labels))
    set_worker(ready, "waiting", reason="ImagePullBackOff", message="Back-off pulling image a")
    follower.until_told("llama-worker-0: ImagePullBackOff: ")
    set_worker(ready, "running")
    line = '{"event":"step","step":1}'
    ready.write_log("llama-worker-0", f"{line}\n", namespace="default", container="main")
    set_job(ready, "Succeeded")
    set_worker(ready, "terminated", exitCode=0)
    follower.wait()
    assert (follower.shown, follower.error) == ([line], None)
    assert follower.told[:2] == snapshot


def test_why_a_job_has_no_pods_is_told(follower: Follower, ready: KubernetesApi) -> None:
    [job] = ready.objects("kubeflow.org/v1", "PyTorchJob")
    names = {key: job["metadata"][key] for key in ("name", "namespace", "uid")}
    event = {"apiVersion": "v1", "kind": "Event", "type": "Warning", "involvedObject": names}
    for name, reason, time in (("last", "FailedCreate", "02"), ("first", "Slow", "01")):
        moment = {"lastTimestamp": f"2026-01-01T00:00:{time}Z"}
        metadata = {"name": name, "namespace": "default"}
        ready.create({**event, **moment, "metadata": metadata, "reason": reason, "message": "no"})
    follower.until_told("FailedCreate: no")
    set_job(ready, "Succeeded")
    follower.wait()


def test_a_job_that_failed_says_why(
    follower: Follower, ready: KubernetesApi, snapshot: SnapshotAssertion
) -> None:
    set_job(ready, "Failed", "1 Worker replica(s) failed.")
    follower.wait()
    assert isinstance(follower.error, FailedError)
    assert follower.error.code == 1
    assert follower.error.lines == snapshot


def test_a_job_that_is_deleted_has_failed(follower: Follower, ready: KubernetesApi) -> None:
    ready.delete("kubeflow.org/v1", "PyTorchJob", "llama", namespace="default")
    follower.wait()
    assert str(follower.error) == "job: llama was deleted"


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (KeyboardInterrupt(), 130),
        (OpsError("Kubernetes API: 401 Unauthorized"), 1),
        (FailedError("job: llama has failed"), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_ends_the_following_leaves_the_job(
    *,
    raised: BaseException,
    code: int,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    def follow(*_given: object, **_named: object) -> None:
        raise raised

    monkeypatch.setattr(command, "follow_job", follow)
    request = asked(config)
    exit_code = run_only(lambda: command._follow(nullcontext, request, stop=STOP, every=1))
    assert exit_code == code
    assert capsys.readouterr().err == snapshot

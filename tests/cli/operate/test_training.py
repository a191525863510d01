"""A training job before it is submitted, and while it is followed."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError
from kubernetes.client import ApiClient

from emulator.kubernetes import KubernetesApi
from hyperpod_cdk import Config
from hyperpod_cli.operate.job_charts import submit
from hyperpod_cli.operate.training import command
from hyperpod_cli.operate.training.checks import check, check_image
from hyperpod_cli.operate.training.following import follow
from hyperpod_cli.operate.training.request import Given, JobRequest, requested
from hyperpod_cli.terminal.errors import FailedError, OpsError
from tests.conftest import Configure
from tests.support.commands import run_only
from tests.support.configs import REPOSITORY

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1"
P4D = {"name": "a100", "instance_type": "ml.p4d.24xlarge", "instance_count": 2}
CPU = {"name": "cpu", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
SLOW = {"name": "slow", "instance_type": "ml.g5.4xlarge", "instance_count": 4}
DEFINITIONS = REPOSITORY / "rehearsal/chart/hyperpod-helm-chart/charts/training-operators/crds"
STOP = "stop it"


@pytest.fixture
def config(configure: Configure) -> Config:
    return configure({"cluster": {"instance_groups": [P4D, CPU, SLOW]}})


def given(*files: str, **options: Any) -> Given:
    return Given(files=files or ("llama2-7b-p4d",), **{"name": "llama", **options})


def asked(config: Config, *files: str, **options: Any) -> JobRequest:
    return requested(given(*files, **options), config=config, built_image=lambda _: IMAGE)


def test_the_configuration_fills_in_what_the_values_do_not_say(config: Config) -> None:
    request = asked(config)

    assert request.added == {
        "claim": {"name": "fsx-claim"},
        "group": "a100",
        "image": IMAGE,
        "name": "llama",
        "priorityClass": "training",
    }
    assert (request.name, request.namespace, request.nodes) == ("llama", "default", 2)
    assert request.node_labels == {
        "node.kubernetes.io/instance-type": "ml.p4d.24xlarge",
        "sagemaker.amazonaws.com/instance-group-name": "a100",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
    }


def test_options_win_over_values_and_settings_over_both(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("{instanceType: ml.p4d.24xlarge, nodes: 1, image: a:1, claim: {name: other}}")
    settings = ["nodes=3", "arguments.max-steps=5"]
    request = asked(config, str(file), name=None, group="slow", nodes=2, settings=settings)

    assert (request.name, request.nodes, request.instance_type) == ("mine", 3, "ml.g5.4xlarge")
    assert request.container["image"] == "a:1"
    assert "--max-steps=5" in request.container["args"]
    claims = [each.get("persistentVolumeClaim") for each in request.pod["volumes"]]
    assert claims[0] == {"claimName": "other"}


@pytest.mark.parametrize(
    ("files", "options", "told"),
    [
        (
            ["no-such"],
            {},
            "--values: 'no-such' is no file, and none of the chart's: deepspeed-zero3",
        ),
        (
            [],
            {"group": "cpu"},
            "group: cpu (ml.m5.2xlarge) has no accelerators to train on; groups",
        ),
        (
            [],
            {"group": "gpus"},
            "group: 'gpus' is not in the configuration, which has: a100 (ml.p4d",
        ),
        (["trainium"], {}, "instanceType: ml.trn1.32xlarge is of no group of ml-cluster; name one"),
        ([], {"settings": ["nodes=many"]}, "values: - at '/nodes': got string, want integer"),
        ([], {"settings": ["node=1"]}, "values: - at '': additional properties 'node' not allowed"),
        ([], {"settings": ["nodes"]}, 'values: failed parsing --set data: key "nodes" has no'),
        (
            [],
            {"settings": ["env.HF_TOKEN=x"]},
            "values: env.HF_TOKEN: a token does not belong",
        ),
        ([], {"name": "Llama"}, "values: - at '/name': 'Llama' does not match pattern"),
        (
            ["smddp"],
            {"group": "slow"},
            "values: arguments.backend: smddp is for ml.p4d.24xlarge and",
        ),
    ],
)
def test_bad_input_is_one_line(
    files: list[str], options: dict[str, Any], told: str, config: Config
) -> None:
    with pytest.raises(OpsError) as refused:
        asked(config, *files, **options)
    [line] = refused.value.lines
    assert line.startswith(told)


def test_a_missing_image_says_where_it_comes_from(config: Config) -> None:
    with pytest.raises(OpsError, match=r"^values: image: is missing; name an image that has"):
        requested(given(), config=config, built_image=lambda _: None)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("ImageNotFoundException", f"image: {IMAGE} is not in ECR; build and push it"),
        ("RepositoryNotFoundException", f"image: {IMAGE} is not in ECR; build and push it"),
        ("AccessDeniedException", ""),
    ],
)
def test_an_image_of_ecr_is_looked_up(code: str, told: str, config: Config) -> None:
    looked_up: list[Mapping[str, Any]] = []

    def describe_images(**which: Any) -> None:
        looked_up.append(which)
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "DescribeImages")

    def client(service: str, region_name: str) -> SimpleNamespace:
        assert (service, region_name) == ("ecr", "us-west-2")
        return SimpleNamespace(describe_images=describe_images)

    session: Any = SimpleNamespace(session=SimpleNamespace(client=client))
    if told:
        with pytest.raises(OpsError) as refused:
            check_image(asked(config), session=session)
        assert refused.value.lines[0].startswith(told)
    else:
        check_image(asked(config), session=session)
    [which] = looked_up
    assert which["imageIds"] == [{"imageTag": "1"}]
    check_image(asked(config, image="registry.invalid/a"), session=session)
    assert len(looked_up) == 1


@pytest.fixture
def ready(kubernetes: KubernetesApi) -> KubernetesApi:
    """A cluster that a job can run on."""
    for path in DEFINITIONS.glob("pytorchjobs*.yaml"):
        kubernetes.create(yaml.safe_load(path.read_text()))
    for number, group in enumerate([P4D, P4D, *[SLOW] * 4]):
        join(kubernetes, f"hyperpod-i-{number}", group)
    where = {"namespace": "default"}
    kubernetes.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hugging-face", **where}}
    )
    kubernetes.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "fsx-claim", **where},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )
    kubernetes.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "training"},
            "value": 1,
        }
    )
    return kubernetes


def join(kubernetes: KubernetesApi, name: str, group: Mapping[str, Any]) -> None:
    labels = {"cluster-name": "ml-cluster", "node-health-status": "Schedulable"}
    labels["instance-group-name"] = group["name"]
    kubernetes.put_node(
        name,
        instance_type=group["instance_type"],
        labels={f"sagemaker.amazonaws.com/{key}": value for key, value in labels.items()},
    )


def pod(kubernetes: KubernetesApi, name: str, **spec: Any) -> None:
    container = {"name": "pytorch", "image": "a", **spec.pop("container", {})}
    kubernetes.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "default",
                "labels": {
                    "training.kubeflow.org/job-name": "llama",
                    "training.kubeflow.org/replica-index": name.rpartition("-")[2],
                },
            },
            "spec": {"containers": [container], **spec},
        }
    )


def busy(kubernetes: KubernetesApi, node: str) -> None:
    resources = {"limits": {"nvidia.com/gpu": "8"}}
    pod(kubernetes, f"other-{node[-1]}", nodeName=node, container={"resources": resources})


def notes(api: ApiClient, request: JobRequest) -> list[str]:
    return check(api, request, cluster="ml-cluster", stop=STOP)


@pytest.mark.usefixtures("ready")
def test_a_job_that_can_run_has_nothing_but_a_hint(api: ApiClient, config: Config) -> None:
    [hint] = notes(api, asked(config))
    assert hint.startswith("HyperPod resumes jobs after it has replaced a node in the namespaces")
    assert notes(api, asked(config, settings=["autoResume.maxRetries=0"])) == []


def test_what_does_not_keep_a_job_from_running_is_told(
    ready: KubernetesApi, api: ApiClient, config: Config
) -> None:
    busy(ready, "hyperpod-i-1")
    told = notes(api, asked(config, settings=["autoResume.maxRetries=0"]))
    assert told == [
        "a100 has 2 healthy of type ml.p4d.24xlarge, and 1 of them are idle: the job waits for 2."
    ]
    told = notes(api, asked(config, group="slow", settings=["autoResume.maxRetries=0"]))
    assert told[0].startswith("ml.g5.4xlarge has no EFA: 2 nodes exchange gradients over TCP")


@pytest.mark.parametrize(
    ("missing", "options", "told"),
    [
        (
            ("v1", "Secret", "hugging-face"),
            {},
            "secret: there is no Secret 'hugging-face' in the namespace default; kubectl create "
            "secret generic hugging-face -n default --from-file=token=FILE",
        ),
        (
            ("v1", "PersistentVolumeClaim", "fsx-claim"),
            {},
            "claim: there is no PersistentVolumeClaim 'fsx-claim' in the namespace default; add "
            "{namespace: default} to storage.claims and deploy",
        ),
        (
            ("scheduling.k8s.io/v1", "PriorityClass", "training"),
            {},
            "priorityClass: there is no PriorityClass 'training'",
        ),
        (
            (
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "pytorchjobs.kubeflow.org",
            ),
            {},
            "kind: the cluster does not know PyTorchJob; set helm.components.training_operator: ",
        ),
        (
            None,
            {"settings": ["kind=HyperPodPyTorchJob"]},
            "kind: the cluster does not know HyperPodPyTorchJob; set operators.training_operator: ",
        ),
        (None, {"namespace": "team"}, "--namespace: 'team' does not exist; create it"),
        (
            ("v1", "Node", "hyperpod-i-1"),
            {},
            "nodes: 2 are asked for, and a100 has 1 healthy of type ml.p4d.24xlarge, 0 of them idle"
            "; give --nodes, or `hyperpod-ops scale a100 2`",
        ),
    ],
)
def test_what_is_missing_is_one_line(
    *,
    missing: tuple[str, str, str] | None,
    options: dict[str, Any],
    told: str,
    ready: KubernetesApi,
    api: ApiClient,
    config: Config,
) -> None:
    busy(ready, "hyperpod-i-0")
    if missing is not None:
        cluster_wide = missing[1] in ("PriorityClass", "CustomResourceDefinition", "Node")
        ready.delete(*missing, namespace="" if cluster_wide else "default")
    with pytest.raises(OpsError) as refused:
        notes(api, asked(config, **options))
    [line] = refused.value.lines
    assert line.startswith(told)


@pytest.mark.usefixtures("ready")
def test_a_name_that_is_taken_is_refused(api: ApiClient, config: Config) -> None:
    request = asked(config)
    submit(api, request.objects)
    with pytest.raises(OpsError, match=r"^name: 'llama' is taken by a PyTorchJob in .*: stop it$"):
        notes(api, request)


class Follower:
    """Follows the job `llama` in a thread, as a user does in a terminal."""

    def __init__(self, api: ApiClient, request: JobRequest) -> None:
        self.shown: list[str] = []
        self.told: list[str] = []
        self.error: Exception | None = None
        self._looks = Event()
        self._thread = Thread(target=self._follow, args=(api, request))
        self._thread.start()

    def _follow(self, api: ApiClient, request: JobRequest) -> None:
        def connect() -> AbstractContextManager[ApiClient]:
            return nullcontext(api)

        try:
            follow(
                connect, request.job, show=self.shown.append, tell=self.told.append, seconds=0.05
            )
        except OpsError as error:
            self.error = error

    def wait(self) -> None:
        self._thread.join(30)
        assert not self._thread.is_alive()

    def until_told(self, text: str) -> None:
        for _ in range(600):
            if any(text in line for line in self.told):
                return
            Event().wait(0.05)
        raise AssertionError(f"{text} is not among {self.told}")


def set_worker(kubernetes: KubernetesApi, state: str, **detail: Any) -> None:
    status = {"containerStatuses": [{"name": "pytorch", "state": {state: detail}}]}
    kubernetes.set_status("v1", "Pod", "llama-worker-0", status, namespace="default")


def set_job(kubernetes: KubernetesApi, kind: str, message: str = "") -> None:
    status = {"conditions": [{"type": kind, "status": "True", "message": message}]}
    kubernetes.set_status("kubeflow.org/v1", "PyTorchJob", "llama", status, namespace="default")


@pytest.fixture
def follower(api: ApiClient, config: Config, ready: KubernetesApi) -> Iterator[Follower]:
    assert ready.objects("kubeflow.org/v1", "PyTorchJob") == []
    request = asked(config)
    submit(api, request.objects)
    made = Follower(api, request)
    yield made
    made.wait()


def test_a_job_is_followed_from_the_queue_to_its_end(
    follower: Follower, ready: KubernetesApi
) -> None:
    follower.until_told("waits for its operator to make pods")
    for number in (1, 0):
        pod(ready, f"llama-worker-{number}")
    set_worker(ready, "waiting", reason="ImagePullBackOff", message="Back-off pulling image a")
    follower.until_told(
        "llama-worker-0: ImagePullBackOff: Back-off pulling image a: push the image, or let"
    )
    set_worker(ready, "running")
    line = '{"event":"step","step":1}'
    ready.write_log("llama-worker-0", f"{line}\n", namespace="default", container="pytorch")
    set_job(ready, "Succeeded")
    set_worker(ready, "terminated", exitCode=0)
    follower.wait()
    assert (follower.shown, follower.error) == ([line], None)


def test_a_job_that_failed_says_why(follower: Follower, ready: KubernetesApi) -> None:
    set_job(ready, "Failed", "PyTorchJob llama is failed: 1 Worker replica(s) failed.")
    follower.wait()
    assert isinstance(follower.error, FailedError)
    assert follower.error.code == 1
    assert "job: llama has failed: PyTorchJob llama is failed" in follower.error.lines[0]


def test_a_job_that_is_deleted_has_failed(follower: Follower, ready: KubernetesApi) -> None:
    ready.delete("kubeflow.org/v1", "PyTorchJob", "llama", namespace="default")
    follower.wait()
    assert str(follower.error) == "job: llama was deleted"


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (
            KeyboardInterrupt(),
            130,
            "Interrupted. The job goes on. To see it: kubectl logs -n default",
        ),
        (
            OpsError("Kubernetes API: 401 Unauthorized"),
            1,
            "401 Unauthorized. The job may go on; to",
        ),
        (FailedError("job: llama has failed"), 1, "job: llama has failed"),
    ],
)
def test_what_ends_the_following_leaves_the_job(
    *,
    raised: BaseException,
    code: int,
    told: str,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def follow(*_given: object, **_named: object) -> None:
        raise raised

    monkeypatch.setattr(command, "follow", follow)
    request = asked(config)
    exit_code = run_only(lambda: command._follow(nullcontext, request, stop=STOP, every=1))
    assert exit_code == code
    assert told in capsys.readouterr().err

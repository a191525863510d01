"""What is looked at before a job is submitted."""

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from kubernetes.client import ApiClient
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.operate.job_charts import submit
from hyperpod_cli.operate.training.checks import check
from hyperpod_cli.operate.training.request import JobRequest
from hyperpod_cli.terminal.errors import LinesError, OpsError
from hyperpod_emulator.kubernetes import KubernetesApi
from tests.cli.operate.training.conftest import STOP, asked, busy
from tests.conftest import Raises


def account(asked_for: list[Mapping[str, Any]], *, code: str | None, images: int = 1) -> Any:  # noqa: ANN401 - stands for a session
    """Return an account whose ECR refuses with a code, or has so many of the images asked for."""

    def describe_images(**which: Any) -> Mapping[str, Any]:
        asked_for.append(which)
        if code is None:
            return {"imageDetails": [which] * images}
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "DescribeImages")

    def client(service: str, region_name: str) -> SimpleNamespace:
        assert (service, region_name) == ("ecr", "us-west-2")
        return SimpleNamespace(describe_images=describe_images)

    return SimpleNamespace(session=SimpleNamespace(client=client))


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    "code",
    ["ImageNotFoundException", "RepositoryNotFoundException", None, "AccessDeniedException"],
)
def test_an_image_of_ecr_is_looked_up(
    code: str | None, api: ApiClient, config: Config, raises: Raises
) -> None:
    looked_up: list[Mapping[str, Any]] = []
    session = account(looked_up, code=code, images=0)
    with nullcontext() if code == "AccessDeniedException" else raises(LinesError):
        notes(api, asked(config), session=session)
    [which] = looked_up
    assert which["imageIds"] == [{"imageTag": "1"}]
    notes(api, asked(config, image="registry.invalid/a"), session=session)
    assert len(looked_up) == 1


def notes(api: ApiClient, request: JobRequest, *, session: Any = None) -> list[str]:  # noqa: ANN401 - as above
    session = session or account([], code=None)
    return check(api, request, session=session, cluster="ml-cluster", stop=STOP)


@pytest.mark.usefixtures("ready")
def test_a_job_that_can_run_has_nothing_but_a_hint(
    api: ApiClient, config: Config, snapshot: SnapshotAssertion
) -> None:
    assert notes(api, asked(config)) == snapshot
    assert notes(api, asked(config, settings=["autoResume.maxRetries=0"])) == []


def test_what_does_not_keep_a_job_from_running_is_told(
    ready: KubernetesApi, api: ApiClient, config: Config, snapshot: SnapshotAssertion
) -> None:
    busy(ready, "hyperpod-i-1")
    for group in (None, "slow"):
        request = asked(config, group=group, settings=["autoResume.maxRetries=0"])
        assert notes(api, request) == snapshot(name=f"{group}")


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    ("settings", "is_too_large"),
    [
        (["nodes=1"], False),  # 112 GB on 8 GPUs with 43 GB
        (["nodes=1", "resources.accelerators=2"], True),
        (["arguments.model=meta-llama/Llama-3.1-70B-Instruct"], True),
        (["arguments.model=Qwen/Qwen3-30B-A3B"], False),  # 480 on 16
        (["arguments.model=mistralai/Mixtral-8x70B"], False),  # who knows
        (["arguments.model=some/net-1B-700bit"], False),
        (["arguments.model=/fsx/llama-70b"], False),
        (["arguments.model=meta-llama/Llama-3.1-70B", "entrypoint={/fsx/own.py}"], False),
        (["nodes=1", "resources.accelerator=nvidia.com/mig-1g.5gb"], False),
    ],
)
def test_a_model_that_the_gpus_do_not_hold_is_told(
    settings: list[str], *, is_too_large: bool, api: ApiClient, config: Config
) -> None:
    told = notes(api, asked(config, settings=["autoResume.maxRetries=0", *settings]))
    assert ["runs out of memory" in line for line in told] == [True] * is_too_large


@pytest.mark.parametrize(
    ("missing", "options"),
    [
        (("v1", "Secret", "hugging-face"), {}),
        (("v1", "PersistentVolumeClaim", "fsx-claim"), {}),
        (None, {"settings": ["claim.name=nope"]}),
        (("scheduling.k8s.io/v1", "PriorityClass", "training"), {}),
        (("apiextensions.k8s.io/v1", "CustomResourceDefinition", "pytorchjobs.kubeflow.org"), {}),
        (None, {"settings": ["kind=HyperPodPyTorchJob"]}),
        (None, {"namespace": "team"}),
        (("v1", "Node", "hyperpod-i-1"), {}),
    ],
)
def test_what_is_missing_is_one_line(
    *,
    missing: tuple[str, str, str] | None,
    options: dict[str, Any],
    ready: KubernetesApi,
    api: ApiClient,
    config: Config,
    snapshot: SnapshotAssertion,
) -> None:
    busy(ready, "hyperpod-i-0")
    if missing is not None:
        cluster_wide = missing[1] in ("PriorityClass", "CustomResourceDefinition", "Node")
        ready.delete(*missing, namespace="" if cluster_wide else "default")
    with pytest.raises(OpsError) as refused:
        notes(api, asked(config, **options))
    [line] = refused.value.lines
    assert line == snapshot


@pytest.mark.usefixtures("ready")
def test_a_name_that_is_taken_is_refused(api: ApiClient, config: Config, raises: Raises) -> None:
    request = asked(config)
    submit(api, request.objects)
    with raises(OpsError):
        notes(api, request)


@pytest.mark.usefixtures("ready")
def test_all_that_is_missing_is_told_at_once(api: ApiClient, config: Config) -> None:
    request = asked(config, nodes=9, settings=["claim.name=nope", "secret=nope"])
    with pytest.raises(LinesError) as refused:
        notes(api, request, session=account([], code=None, images=0))
    keys = [line.partition(":")[0] for line in refused.value.lines]
    assert keys == ["image", "claim", "secret", "nodes"]

"""A recording of the local AWS, as `hyperpod-cdk record get` writes it, replayed on the model."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.hyperpod import HyperPodApi, HyperPodService
from hyperpod_emulator.testing.hyperpod_api import LONG, NAME, FakeClock, create_request, group
from hyperpod_shared.recording import RECORDED, VARIABLE
from provisioner.aws.api import Clients
from tests.provisioner.histories.recorded import RecordingError, read, replayed

TAGS = [{"Key": "a", "Value": "b"}]
LOOKED = {"ClusterName": NAME}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def sagemaker(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return the provisioner's client, which records."""
    with HyperPodApi(service=HyperPodService(clock=clock)) as api:
        for name, value in {
            VARIABLE: "true",
            "AWS_ENDPOINT_URL": api.url,
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
        }.items():
            monkeypatch.setenv(name, value)
        yield Clients(region="us-west-2").sagemaker


def live(sagemaker: Any, clock: FakeClock) -> None:  # noqa: ANN401 - a client
    """Let a cluster be made, changed and deleted."""

    def look() -> None:
        """Look twice, the second time when what was called for has happened."""
        sagemaker.describe_cluster(**LOOKED)
        clock.now += LONG
        sagemaker.describe_cluster(**LOOKED)

    request = create_request(group("first", 2), group("second", 1), Tags=TAGS)
    arn = sagemaker.create_cluster(**request)["ClusterArn"]
    with pytest.raises(ClientError, match="Conflict"):
        sagemaker.delete_cluster(**LOOKED)
    look()
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == TAGS
    sagemaker.update_cluster(**LOOKED, InstanceGroups=[group("first", 3)])
    sagemaker.describe_cluster(**LOOKED)
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "c", "Value": "d"}])
    look()
    sagemaker.delete_cluster(**LOOKED)
    with pytest.raises(ClientError, match="not found"):
        look()


def recorded(printed: str, path: Path) -> Path:
    path.write_text(printed, "utf-8")
    return path


def test_the_life_of_a_cluster_is_replayed(
    sagemaker: Any,  # noqa: ANN401 - a client
    clock: FakeClock,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    live(sagemaker, clock)
    lines = [*replayed(read(recorded(capsys.readouterr().out, tmp_path / "recorded.jsonl")))]
    measured = [line for line in lines if line.startswith("measured: ")]
    took = [re.sub(r" of \S+ took \d+ s", " took", line) for line in measured]
    assert [line.removeprefix("measured: ") for line in took if line.endswith(" took")] == [
        "CreateCluster took",
        "UpdateCluster took",
        "DeleteCluster took",
    ]
    assert "measured: busy clusters take tags" in measured
    assert "measured: groups left out of UpdateCluster are kept" in measured


LINE = {"level": "INFO", "message": RECORDED, "service": "sagemaker", "seconds": 0.1}
ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/a"
DESCRIBED = {"ClusterName": NAME, "ClusterArn": ARN, "ClusterStatus": "InService"}


def described(count: int, *, target: int = 2, status: str = "InService") -> dict[str, Any]:
    shown = {"TargetCount": target, "CurrentCount": count, "Status": "InService"}
    groups = [{"InstanceGroupName": "workers", "InstanceType": "ml.m5.large", **shown}]
    return {"answer": {**DESCRIBED, "ClusterStatus": status, "InstanceGroups": groups}}


def scaled(count: int) -> dict[str, Any]:
    spec = {"InstanceGroupName": "workers", "InstanceType": "ml.m5.large", "InstanceCount": count}
    return {"ClusterName": NAME, "InstanceGroups": [spec]}


LOOK: tuple[str, Any] = ("DescribeCluster", LOOKED)
SCALE = ("UpdateCluster", scaled(3))
BUSY = {"error": {"Code": "ConflictException", "Message": "Cluster is currently Updating"}}
UPDATING = described(2, target=3, status="Updating")
TAG = ("AddTags", {"ResourceArn": ARN, "Tags": TAGS})
SHOWN = "shows workers.CurrentCount"
Calls = list[tuple[int, tuple[str, Any], dict[str, Any]]]
CASES: dict[str, tuple[Calls, list[str]]] = {
    "a cluster that was there before": ([(0, LOOK, described(2)), (30, LOOK, described(2))], []),
    "nodes are lost by themselves": (
        [(0, LOOK, described(2)), (30, LOOK, described(1)), (60, LOOK, described(1))],
        [f"DescribeCluster: AWS {SHOWN}=1; the model {SHOWN}=2"],
    ),
    "an update, and a read that lags": (
        [
            (0, LOOK, described(2)),
            (10, SCALE, {"answer": {}}),
            (12, LOOK, described(2)),
            (40, LOOK, UPDATING),
            (70, LOOK, described(3, target=3)),
        ],
        ["measured: UpdateCluster took 60 s", "measured: DescribeCluster lagged by at most 2 s"],
    ),
    "what AWS takes and the model refuses": (
        [
            (0, LOOK, described(2)),
            (10, SCALE, {"answer": {}}),
            (20, LOOK, UPDATING),
            (25, SCALE, {"answer": {}}),
            (40, LOOK, described(3, target=3)),
        ],
        [
            "UpdateCluster: AWS takes it; the model refuses it: ConflictException, Cluster "
            "ml-cluster is currently Updating. Wait until it is InService.",
            "measured: UpdateCluster was not seen to end",
        ],
    ),
    "what AWS refuses and the model takes": (
        [(0, LOOK, described(2)), (10, SCALE, BUSY), (20, LOOK, described(2))],
        [
            "UpdateCluster: AWS refuses it: ConflictException, Cluster is currently Updating; the "
            "model takes it",
        ],
    ),
    "tags are refused while it is busy": (
        [
            (0, LOOK, described(2)),
            (10, SCALE, {"answer": {}}),
            (20, LOOK, UPDATING),
            (25, TAG, BUSY),
            (40, LOOK, described(3, target=3)),
        ],
        ["measured: busy clusters refuse tags"],
    ),
    "too many calls": (
        [
            (0, LOOK, described(2)),
            (5, SCALE, {"error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}),
            (30, LOOK, described(2)),
        ],
        [],
    ),
}


def written(calls: Calls, path: Path) -> Path:
    lines = (
        {
            **LINE,
            "at": f"2026-11-30 04:{at // 60:02}:{at % 60:02}+00:00",
            "operation": operation,
            "parameters": parameters,
            **ended,
        }
        for at, (operation, parameters), ended in calls
    )
    return recorded("\n".join(map(json.dumps, lines)), path)


@pytest.mark.parametrize("case", CASES)
def test_what_differs_is_a_line_each(case: str, tmp_path: Path) -> None:
    calls, expected = CASES[case]
    lines = [*replayed(read(written(calls, tmp_path / "recorded.jsonl")))]
    plain = [re.sub(r"^\S+Z | of 2026\S+Z(?= (took|was))", "", line) for line in lines]
    assert [line for line in expected if line not in plain] == [], plain
    differing = [line for line in expected if "; the model " in line]
    assert [line for line in plain if "; the model " in line] == differing


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no JSON", "recorded.jsonl:1: is no line of"),
        (json.dumps({"message": RECORDED}), "recorded.jsonl:1: is no line of .* KeyError"),
        (json.dumps({"message": "on_event"}), "has no call of SageMaker; record a deployment"),
    ],
)
def test_another_file_is_refused(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=says):
        read(recorded(text, tmp_path / "recorded.jsonl"))

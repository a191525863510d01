"""What is told of EKS node groups, of whose health no event says anything."""

import json
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from botocore.exceptions import ReadTimeoutError
from syrupy.assertion import SnapshotAssertion

from notifier import handler
from notifier.memory import LONGEST_RUN_SECONDS
from tests.notifier.conftest import mail
from tests.support.notifier import CAPACITY, EKS, LOOK, Cluster, described, notifier, refused


def _node_group(status: str, *issues: tuple[str, str], size: int = 1) -> dict[str, Any]:
    found = [{"code": code, "message": text, "resourceIds": ["asg"]} for code, text in issues]
    arn = f"arn:aws:eks:us-west-2:111122223333:nodegroup/{EKS}/spot/1"
    health = {"issues": found}
    return {
        "nodegroupName": "spot",
        "nodegroupArn": arn,
        "status": status,
        "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": size},
        "health": health,
    }


_SPOT = (
    "AsgInstanceLaunchFailures",
    "Could not launch Spot Instances. UnfulfillableCapacity - There is no Spot capacity. Launching "
    "EC2 instance failed.",
)
_QUOTA = ("AsgInstanceLaunchFailures", "VcpuLimitExceeded - You have requested more vCPU capacity.")
_FOLLOWS = ("NodeCreationFailure", "Instances failed to join the kubernetes cluster")
_SHORT, _WELL = _node_group("DEGRADED", _SPOT, _FOLLOWS), _node_group("ACTIVE")
_ASLEEP = _node_group("DEGRADED", _SPOT, size=0)
_OF_SPOT, _OF_QUOTA = "node-group-degraded: Spot", "node-group-degraded: quota"


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ([_WELL], []),
        ([_node_group("CREATE_FAILED", _SPOT)], []),  # which the deployment itself says
        ([_SHORT, _SHORT], [_OF_SPOT]),
        (
            [_SHORT, _node_group("DEGRADED", _SPOT, _QUOTA)],
            [_OF_SPOT, _OF_QUOTA],
        ),
        ([_SHORT, _WELL, _SHORT], [_OF_SPOT, _OF_SPOT]),
        # EKS keeps the state until a launch succeeds, whether or not one is wanted.
        ([_ASLEEP], []),
        ([_SHORT, _ASLEEP, _SHORT], [_OF_SPOT]),
        ([_SHORT, _node_group("ACTIVE", size=0), _SHORT], [_OF_SPOT, _OF_SPOT]),
        ([_node_group("DEGRADED", ("New", "It is new"))], ["node-group-degraded: New"]),
        ([_node_group("DEGRADED")], ["node-group-degraded: DEGRADED"]),
        ([_node_group("DEGRADED", _FOLLOWS)], ["node-group-degraded: join"]),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_each_cause_in_a_degraded_node_group_is_told_once(
    dynamodb: object, exists: bool, groups: list[dict[str, Any]], told: list[str]
) -> None:
    cluster = Cluster() if exists else Cluster(cluster=None)
    for group in groups:
        cluster.now += 300
        cluster.node_groups = {"spot": group}
        notifier(cluster, dynamodb).handle(LOOK)
    assert cluster.told == told


def test_a_cause_that_lasts_is_told_again_after_a_day(dynamodb: object) -> None:
    cluster = Cluster(node_groups={"spot": _SHORT})
    for _ in range(25):
        notifier(cluster, dynamodb).handle(LOOK)
        cluster.now += 3600
    assert cluster.told == [_OF_SPOT, _OF_SPOT]


def test_a_message_of_a_node_group_says_what_eks_says_and_what_to_do(
    dynamodb: object, snapshot: SnapshotAssertion
) -> None:
    cluster = Cluster(node_groups={"spot": _SHORT})
    notifier(cluster, dynamodb).handle(LOOK)
    [sent] = cluster.sent
    assert mail(sent) == snapshot


_FAILED = described(status="Failed", current=0, FailureMessage=CAPACITY)
_OF_CLUSTER = "cluster-fails: capacity"
_THROTTLED, _DENIED = refused("ThrottlingException"), refused("AccessDeniedException")
_HANGS = ReadTimeoutError(endpoint_url="https://aws.invalid")


@pytest.mark.parametrize(
    ("of_cluster", "of_groups", "told", "raised"),
    [
        (_FAILED, [_DENIED, _SHORT], [_OF_CLUSTER, _OF_SPOT], _DENIED),
        (_FAILED, [_THROTTLED, _DENIED, _SHORT], [_OF_CLUSTER, _OF_SPOT], _THROTTLED),
        # Each group would take as long, and the function has a minute.
        (_FAILED, [_HANGS, _SHORT], [_OF_CLUSTER], _HANGS),
        (_THROTTLED, [_DENIED, _SHORT], [_OF_SPOT], _THROTTLED),
        (_HANGS, [_SHORT], [_OF_SPOT], _HANGS),
    ],
)
def test_what_fails_keeps_nothing_else_from_being_looked_at(
    dynamodb: object,
    of_cluster: dict[str, Any] | Exception,
    of_groups: list[dict[str, Any] | Exception],
    told: list[str],
    raised: Exception,
) -> None:
    named = {f"n{number}": group for number, group in enumerate(of_groups)}
    cluster = Cluster(cluster=of_cluster, node_groups=named)
    with pytest.raises(type(raised)) as failed:
        notifier(cluster, dynamodb).handle(LOOK)
    assert failed.value is raised
    assert cluster.told == told


def test_apis_that_do_not_answer_end_within_the_time_of_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"CLUSTER_NAME": "ml", "TABLE_NAME": "told", "TOPIC_ARN": "arn"}
    for name, value in {**settings, "PATIENCE_MINUTES": "60", "AWS_REGION": "us-west-2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NODE_GROUPS", json.dumps([[EKS, "a"], [EKS, "b"]]))
    monkeypatch.setattr(handler, "_notifier", handler._notifier.__wrapped__)
    spent: list[float] = []
    monkeypatch.setattr(
        "boto3.Session.client", lambda _session, _name, *, config: _Silent(config, spent)
    )
    with pytest.raises(ReadTimeoutError):
        handler.notify(LOOK, None)
    assert len(spent) == 2
    assert sum(spent) < LONGEST_RUN_SECONDS


class _Silent:
    """A client of an API that takes connections late and answers nothing."""

    def __init__(self, config: Any, spent: list[float]) -> None:  # noqa: ANN401 - botocore's
        attempts = config.retries["total_max_attempts"]
        pauses = sum(2**number for number in range(attempts - 1))
        self._longest = attempts * (config.connect_timeout + config.read_timeout) + pauses
        self._spent = spent

    def __getattr__(self, _operation: str) -> Callable[..., NoReturn]:
        return self._call

    def _call(self, **_request: object) -> NoReturn:
        self._spent.append(self._longest)
        raise _HANGS

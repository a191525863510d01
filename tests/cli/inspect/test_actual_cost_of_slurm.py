"""`hyperpod-cdk cost --actual` with Slurm: what it makes of records, and what it refuses."""

import io
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.actual_cost.records import read_records
from hyperpod_cli.inspect.actual_cost.slurm import month_of_records
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.testing.slurm_requests import compute, controller
from hyperpod_shared.clusters import groups_of
from tests.conftest import Raises
from tests.support.clusters import ARN
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER
from tests.support.metrics_account import answering, refused

START, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
EXAMPLE = CONFIG_FOLDER / "examples" / "slurm-accounting.yaml"
TRN1 = "ml.trn1.32xlarge"
BOTH = "ip-10-1-1-[1-2]"
GPU = compute("gpus", partition="gpu", ThreadsPerCore=1)
CPU = compute("cpus", partition="cpu", InstanceType="ml.c5.4xlarge")
TRN = compute("chips", partition="trn", InstanceType=TRN1)


def at(hours: float) -> int:
    """Return a time in seconds, counted from the begin of the month."""
    return int((START + timedelta(hours=hours)).timestamp())


def there(hosts: str, since: float = 0, until: float | None = None) -> str:
    return f"{at(since)}|{'Unknown' if until is None else at(until)}|{hosts}"


def job(
    since: float,
    until: float | None,
    hosts: str,
    tres: str,
    *,
    who: str = "research|alice",
    partition: str = "gpu",
) -> str:
    end = "Unknown" if until is None else at(until)
    return f"{at(since)}|{end}|{who}|{partition}|{hosts}|billing=1,{tres},mem=4G,node=1"


def node(host: str, group: Mapping[str, Any], *, launched: float = -100) -> ClusterNode:
    return ClusterNode(
        id=f"i-{host}",
        group=group["InstanceGroupName"],
        instance_type=group["InstanceType"],
        status="Running",
        message="",
        launched=START + timedelta(hours=launched),
        host=host,
    )


GPUS = [node(f"ip-10-1-1-{number}", GPU) for number in (1, 2)]


def parts_of(
    lines: Sequence[str], *groups: Mapping[str, Any], nodes: Sequence[ClusterNode] = GPUS
) -> dict[str, tuple[float, float | None]]:
    """Return hours and shares by name, after ten hours of the month; users after their account."""
    records = read_records("\n".join([*lines, f"2026-11 {at(10)}"]), place="-")
    known = groups_of({"InstanceGroups": groups or [GPU]})
    found = month_of_records(
        records, nodes=nodes, groups=known, start=START, end=END, region="us-west-2"
    )
    assert found is not None
    shown = {}
    for part in found.parts:
        shown[part.name] = (part.node_hours, part.share)
        shown |= {f"{part.name} {each.name}": (each.node_hours, each.share) for each in part.users}
    return shown


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([there(BOTH)], {"idle": (20, 1), "all nodes": (20, None)}, id="no job"),
        pytest.param(
            [there(BOTH), job(1, 6, BOTH, "cpu=48,gres/gpu=8")],
            {"research": (10, 0.5), "research alice": (10, 0.5), "idle": (10, 0.5)},
            id="two whole nodes",
        ),
        pytest.param(
            [there(BOTH, since=-500), job(-3, 2, BOTH, "cpu=1,gres/gpu=8")],
            {"research": (4, 0.2), "idle": (16, 0.8), "all nodes": (20, None)},
            id="what is over the edge of the month is of the other",
        ),
        pytest.param(
            [there(BOTH), job(8, None, BOTH, "cpu=1,gres/gpu=8")],
            {"research": (4, 0.2), "idle": (16, 0.8)},
            id="a job that runs has its nodes until now",
        ),
        pytest.param(
            [
                there(BOTH),
                job(0, 8, "ip-10-1-1-1", "cpu=24,gres/gpu=1"),
                job(0, 8, "ip-10-1-1-1", "cpu=24,gres/gpu=2", who="research|bob"),
                job(0, 4, "ip-10-1-1-2", "cpu=24", who="|"),
            ],
            {
                "research": (6, 0.3),
                "research bob": (4, 0.2),
                "research alice": (2, 0.1),
                "idle": (14, 0.7),
            },
            id="parts of a node by GPUs, and none for a job without",
        ),
        pytest.param(
            [there(BOTH), job(0, 4, "ip-10-1-1-1", "cpu=12", who="|"), job(0, 2, BOTH, "cpu=48")],
            {"research": (4, 0.2), "no account no user": (2, 0.1), "idle": (14, 0.7)},
            id="parts of a node by CPUs, of one thread a core, where GPUs are not recorded",
        ),
        pytest.param(
            [there(BOTH), job(0, 4, "ip-10-1-1-1", "cpu=4,gres/gpu:a10g=2")],
            {"research": (2, 0.1)},
            id="GPUs that are recorded by model alone",
        ),
        pytest.param(
            [there(BOTH), job(0, 4, "ip-10-1-1-1", "cpu=4,gres/gpu:a10g=2,gres/gpu=2")],
            {"research": (2, 0.1)},
            id="GPUs that are recorded twice",
        ),
        pytest.param(
            [
                there(BOTH),
                *[job(at_, at_ + 1, "ip-10-1-1-2", "cpu=1,gres/gpu=4") for at_ in range(3)],
                f"None|{at(4)}|research|alice|gpu|None assigned|",
                f"{at(4)}|{at(4)}|research|alice|gpu|None assigned|",
                "Unknown|Unknown|research|alice|gpu|None assigned|billing=1,cpu=1,gres/gpu=4",
                f"{at(4)}|Unknown|research|alice|gpu|(unknown)|cpu=1,gres/gpu=4",
                job(5, 5, "ip-10-1-1-2", "cpu=1,gres/gpu=4"),
            ],
            {"research": (3, 0.15), "idle": (17, 0.85)},
            id="tasks of an array, what waits, was cancelled before it ran, or has lost its nodes",
        ),
        pytest.param(
            [there("ip-10-1-1-1", 0, 4), there(BOTH, 4), job(0, 3, "ip-10-1-1-1", "gres/gpu=4")],
            {"research": (3, 0.15), "idle": (17, 0.85), "all nodes": (20, None)},
            id="a node that joined some time after its launch",
        ),
        pytest.param(
            [there("ip-10-1-1-[1-2,9]", 0, 5), there(BOTH, 5), job(0, 1, "ip-10-1-1-9", "cpu=1")],
            {"research": (0.04, 0.0017), "all nodes": (25, None)},
            id="a node that is gone was of the only type",
        ),
        pytest.param(
            [
                there("ip-10-1-1-[1-2,9]", 0, 5),
                there(BOTH, 5),
                job(1, None, "ip-10-1-1-9", "gres/gpu=4"),
            ],
            {"research": (4, 0.16), "all nodes": (25, None)},
            id="a job without an end was over when its node was gone",
        ),
        pytest.param(
            [
                there("ip-10-1-1-1"),
                *[job(0, 10, "ip-10-1-1-[1-2]", "cpu=48", who=f"{who}|bob") for who in ("b", "c")],
                job(0, 5, "ip-10-1-1-1", "cpu=24", who="d|bob"),
            ],
            {"b": (8.89, 0.4444), "c": (8.89, 0.4444), "d": (2.22, 0.1111), "idle": (0, 0)},
            id="jobs that share their CPUs have no more than there is",
        ),
        pytest.param(
            [there(BOTH, since=2)], {"idle": (16, 1), "all nodes": (16, None)}, id="since a time"
        ),
    ],
)
def test_hours_are_divided(
    lines: Sequence[str], expected: Mapping[str, tuple[float, float | None]]
) -> None:
    found = parts_of(lines)
    assert expected.items() <= found.items(), found
    # What a user has is in their account; the rest adds up to all nodes.
    is_user = re.compile(r"(research|no account|[bcd]) (alice|bob|no user)")
    amounts = [hours for name, (hours, _) in found.items() if not is_user.fullmatch(name)]
    assert sum(amounts[:-1]) == pytest.approx(amounts[-1], abs=0.02)


def test_nodes_of_other_kinds() -> None:
    nodes = [node("ip-10-1-0-1", controller(), launched=4), node("ip-10-1-3-1", TRN), *GPUS]
    lines = [
        there(f"ip-10-1-2-1,ip-10-1-3-1,{BOTH}"),
        job(0, 2, "ip-10-1-3-1", "cpu=64", partition="trn"),
        job(0, 2, "ip-10-1-1-1", "cpu=1,gres/gpu=4"),
        job(0, 2, "ip-10-1-2-1", "cpu=16", partition="cpu"),
        job(0, 2, "ip-10-1-2-2", "cpu=16", partition="other"),
    ]
    found = parts_of(lines, controller(), GPU, CPU, TRN, nodes=nodes)

    # Half of the CPUs of a node with Trainium, and all GPUs of another.
    assert found["research"] == (3, 0.1)
    assert found["idle"] == (27, 0.9)
    # The controller since its launch, and the node that is gone whose partition has one type.
    assert found["nodes without accelerators"] == (16, None)
    # Nothing says of which group this one was.
    assert found["nodes of unknown type"] == (2, None)
    assert found["all nodes"] == (48, None)


def test_a_type_without_a_price_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    deployed(monkeypatch, instance_type="ml.new1.48xlarge")
    text = october("{0}|{1}|ip-10-1-1-[1-2]")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    given = ["cost", "--actual", "--month", "2025-10", "--config", str(EXAMPLE)]
    code, shown, _ = ran(*given, "--records", "-")
    assert code == 0

    assert re.search(r"^all nodes +4\.0 +unknown$", shown, re.M), shown
    assert "ml.new1.48xlarge" in shown.rpartition("\n\n")[2]


def test_records_of_no_node_are_none() -> None:
    records = read_records(f"2026-11 {at(10)}\n", place="-")
    given: dict[str, Any] = {"start": START, "end": END, "region": None}
    assert month_of_records(records, nodes=GPUS, groups={}, **given) is None


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        ("ip-10-1-1-1", ["ip-10-1-1-1"]),
        ("ip-10-1-1-[1-2,9],a", ["ip-10-1-1-1", "ip-10-1-1-2", "ip-10-1-1-9", "a"]),
        ("n[08-10]x[1,2]", ["n08x1", "n08x2", "n09x1", "n09x2", "n10x1", "n10x2"]),
        ("", []),
    ],
)
def test_lists_of_nodes(hosts: str, names: list[str]) -> None:
    (found,) = read_records(f"1|2|{hosts}\n2026-11 3\n", place="-").registered
    assert [*found.hosts] == names


NO_RECORDS = [
    *("", there(BOTH), "sacct: error: no\n2026-11 1", "1|2|a[b]\n2026-11 1", "1|2|a;b\n2026-11 1"),
    *("1|2|a[1-123456]\n2026-11 1", "1|2|a[1-2\n2026-11 1", "1|2|a,\n2026-11 1"),
    *("1|2|a[2-1]\n2026-11 1", "1|2|[1-999][1-999]\n2026-11 1"),
    *("\n2026-11-01T00:00:00|Unknown|a\n2026-11 1", "1|x|a|b|c|d|cpu=1\n2026-11 1"),
]


@pytest.mark.parametrize("text", NO_RECORDS)
def test_what_is_no_record(text: str, raises: Raises) -> None:
    with raises(OpsError):
        read_records(text, place="-")


def deployed(
    monkeypatch: pytest.MonkeyPatch,
    *,
    launched: datetime = START,
    instance_type: str = "ml.g5.12xlarge",
) -> None:
    nodes = [
        {
            "InstanceId": f"i-{number:017x}",
            "InstanceGroupName": GPU["InstanceGroupName"],
            "InstanceType": instance_type,
            "InstanceStatus": {"Status": "Running"},
            "PrivateDnsHostname": f"ip-10-1-1-{number}.us-west-2.compute.internal",
            "LaunchTime": launched,
        }
        for number in (1, 2)
    ]
    described = {"ClusterName": "ml-cluster", "ClusterArn": ARN, "InstanceGroups": [GPU]}
    answers = {"DescribeCluster": described, "ListClusterNodes": {"ClusterNodeSummaries": nodes}}
    answering(monkeypatch, answers)


def october(*lines: str, month: str = "2025-10") -> str:
    second = int(datetime(2025, 10, 1, tzinfo=UTC).timestamp())
    return "\n".join(
        [*(line.format(second, second + 7200) for line in lines), f"{month} {int(END.timestamp())}"]
    )


def test_a_month_is_shown_and_is_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deployed(monkeypatch)
    text = october(
        "{0}|{1}|ip-10-1-1-[1-2]", "{0}|{1}|research|alice|gpu|ip-10-1-1-1|cpu=4,gres/gpu=4"
    )
    file = tmp_path / "records.txt"
    file.write_text(text.replace("\n", "\r\n"))
    given = ["cost", "--actual", "--month", "2025-10", "--config", str(EXAMPLE)]
    shown = ran(*given, "--records", file).out
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    found = json.loads(ran(*given, "--records", "-", "--json").out)

    rows = [line.split()[:3] for line in shown.partition("\n\n")[2].splitlines()]
    assert rows[1:3] == [["research", "2.0", "50%"], ["alice", "2.0", "50%"]]
    assert (found["since"], found["until"]) == ("2025-10-01T00:00:00Z", "2025-11-01T00:00:00Z")
    research, idle = found["parts"][:2]
    assert (research["node_hours"], [each["name"] for each in research["users"]]) == (2, ["alice"])
    assert (idle["name"], idle["node_hours"], idle["users"]) == ("idle", 2, [])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        pytest.param((), "", id="no records"),
        pytest.param(("--records", "gone"), "", id="no file"),
        pytest.param(("--records", "-"), "nothing", id="no month"),
        pytest.param(("--records", "-"), october(month="2025-09"), id="another month"),
        pytest.param(("--records", "-"), october(), id="nothing of the month"),
        pytest.param(("--records", "-"), october("{0}|{1}|ip-10-9-1-1"), id="another node"),
    ],
)
def test_what_is_refused(
    options: tuple[str, ...],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    deployed(monkeypatch, launched=START.replace(year=2024))
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert refused("--actual", "--month", "2025-10", *options, config=EXAMPLE) == snapshot


def test_a_cluster_that_is_not_deployed(
    monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    def answer(_client: object, operation: str, _asked: object) -> object:
        if operation == "DescribeCluster":
            raise ClientError({"Error": {"Code": "ResourceNotFound"}}, operation)
        return {"ClusterSummaries": []}

    deployed(monkeypatch)
    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answer)
    monkeypatch.setattr("sys.stdin", io.StringIO(october()))
    given = ("--actual", "--month", "2025-10", "--records", "-")
    assert refused(*given, config=EXAMPLE) == snapshot


def test_standard_input_is_closed(
    monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert refused("--actual", "--records", "-", config=EXAMPLE) == snapshot


def test_an_account_may_have_the_character_between_fields() -> None:
    records = read_records(f"{job(0, 1, BOTH, 'cpu=1', who='a|b|bob')}\n2026-11 {at(1)}", place="-")
    (found,) = records.allocations
    assert (found.account, found.user, found.partition) == ("a|b", "bob", "gpu")


@pytest.mark.parametrize(
    ("options", "example"),
    [
        (("--actual",), "slurm-p5"),
        (("--actual", "--records", "x"), "observability-prometheus"),
        (("--records", "x"), "slurm-accounting"),
    ],
)
def test_what_does_not_fit_the_configuration(
    options: tuple[str, ...], example: str, snapshot: SnapshotAssertion
) -> None:
    assert refused(*options, config=EXAMPLE.with_name(f"{example}.yaml")) == snapshot

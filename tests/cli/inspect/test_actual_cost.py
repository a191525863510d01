"""`hyperpod-cdk cost --actual`: what it makes of metrics, and what it says without."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import parse_qs

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.facts.prices import price_of
from hyperpod_cli.inspect.actual_cost.query import Series
from hyperpod_cli.inspect.actual_cost.usage import month_of
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER
from tests.support.metrics_account import deployed_with_metrics, refused

_EXAMPLES = CONFIG_FOLDER / "examples"
_EXAMPLE = _EXAMPLES / "observability-prometheus.yaml"
_TYPE = "node_kubernetes_io_instance_type"
G5, M5 = "ml.g5.12xlarge", "ml.m5.4xlarge"
P5, P4D = "ml.p5.48xlarge", "p4d.24xlarge"
PRICED = [("HyperPod", P5), ("EC2", P4D)]


def series(value: float, **labels: str) -> Series:
    return Series(labels=labels, samples=[(3600.0 * hour, value) for hour in range(4)])


def test_dollars_are_divided_by_what_pods_have() -> None:
    nodes = [series(3, **{_TYPE: G5}), series(1, **{_TYPE: M5})]
    used = [
        series(1, namespace="hyperpod-ns-research", **{_TYPE: G5}),
        series(0.5, namespace="research-dev", **{_TYPE: G5}),
        series(0.25, namespace="default", **{_TYPE: G5}),
    ]
    teams = {"research-dev": "research"}
    found = month_of(nodes, used, step_seconds=3600, region="us-west-2", teams=teams)

    assert found is not None
    assert [(part.name, part.node_hours, part.share) for part in found.parts] == [
        ("research", 6, 0.5),
        ("namespace default", 1, 0.0833),
        ("idle", 5, 0.4167),
        ("nodes without accelerators", 4, None),
        ("all nodes", 16, None),
    ]
    dollars = [part.usd or 0 for part in found.parts]
    assert sum(dollars[:4]) == pytest.approx(dollars[4], abs=0.03)
    assert dollars[0] == pytest.approx(6 * dollars[1], abs=0.03)


def test_nodes_of_ec2_have_accelerators_and_the_prices_of_ec2() -> None:
    nodes = [series(1, **{_TYPE: P5}), series(2, **{_TYPE: P4D}), series(1, **{_TYPE: M5[3:]})]
    used = [
        series(1, namespace="hyperpod-ns-research", **{_TYPE: P5}),
        series(1, namespace="hyperpod-ns-research", **{_TYPE: P4D}),
    ]
    found = month_of(nodes, used, step_seconds=3600, region="us-east-1")

    assert found is not None
    research, idle, plain, everything = found.parts
    assert [(part.name, part.node_hours, part.share) for part in found.parts] == [
        ("research", 8, 0.6667),
        ("idle", 4, 0.3333),
        ("nodes without accelerators", 4, None),
        ("all nodes", 16, None),
    ]
    prices = {name: price_of(*name, region="us-east-1") for name in PRICED}
    hourly = {name: float(price.usd) for name, price in prices.items() if price is not None}
    assert idle.usd == pytest.approx(4 * hourly["EC2", P4D], abs=0.01)
    assert research.usd == pytest.approx(4 * sum(hourly.values()), abs=0.01)
    assert plain.usd is not None and everything.usd is not None


def test_a_type_without_a_price_is_not_counted_as_nothing() -> None:
    used = [series(1, namespace="default", **{_TYPE: "ml.unknown.large"})]
    nodes = [series(1, **{_TYPE: "ml.unknown.large"}), series(1, **{_TYPE: G5})]
    found = month_of(nodes, used, step_seconds=3600, region="us-west-2")

    assert found is not None
    assert {part.name: part.usd is None for part in found.parts}["all nodes"]
    assert found.unpriced == ("ml.unknown.large",)
    hours = [part.node_hours for part in found.parts]
    assert (sum(hours[:-1]), hours[-1]) == (8, 8)
    assert month_of([], [], step_seconds=3600, region=None) is None


def test_nodes_that_have_no_type_yet_are_shown_alone() -> None:
    found = month_of([series(2, **{_TYPE: G5}), series(1)], [], step_seconds=3600, region=None)

    assert found is not None
    assert [(part.name, part.node_hours) for part in found.parts] == [
        ("idle", 8),
        ("nodes without accelerators", 0),
        ("nodes of unknown type", 4),
        ("all nodes", 12),
    ]
    assert found.unpriced == ()


class _Workspace(BaseHTTPRequestHandler):
    """Answers as a workspace does, and keeps what it was asked."""

    status: ClassVar[int] = 200
    body: ClassVar[str] = ""
    asked: ClassVar[list[tuple[str, str, dict[str, list[str]]]]] = []

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append((self.path, self.headers["Authorization"] or "", parse_qs(content)))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def workspace(status: int, body: str) -> Iterator[str]:
    _Workspace.status, _Workspace.body = status, body
    _Workspace.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Workspace) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/workspaces/ws-1"
        finally:
            server.shutdown()
            thread.join()


def test_requests_are_signed_for_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [[1735689600 + 900 * index, "2"] for index in range(4)]
    metric = {"metric": {_TYPE: G5, "namespace": "hyperpod-ns-a"}, "values": values}
    body = json.dumps({"status": "success", "data": {"result": [metric]}})
    with workspace(200, body) as endpoint:
        deployed_with_metrics(monkeypatch, endpoint=endpoint, cluster_id="abc")
        said = ran("cost", "--actual", "--month", "2025-02", "--json", "--config", _EXAMPLE)

    assert said.code == 0
    parts = json.loads(said.out)["parts"]
    assert [(part["name"], part["node_hours"]) for part in parts[:2]] == [("a", 2), ("idle", 0)]
    for path, authorization, asked in _Workspace.asked:
        assert path == "/workspaces/ws-1/api/v1/query_range"
        assert authorization.startswith("AWS4-HMAC-SHA256 Credential=example/")
        assert "/us-west-2/aps/aws4_request" in authorization
        assert 'cluster_id="abc"' in asked["query"][0]
        # All of February, the last quarter of an hour by the sample before it.
        assert (asked["start"], asked["end"]) == (["1738368000.0"], ["1740786300.0"])
        assert asked["step"] == ["900"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (403, '{"message": "not allowed"}'),
        (200, "<html>"),
        (200, '{"data": {"result": null}}'),
        (200, '{"data": {"result": [{"metric": {}}]}}'),
        (502, "<html>\n<body>"),
    ],
)
def test_a_workspace_that_does_not_answer(
    status: int, body: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    with workspace(status, body) as endpoint:
        deployed_with_metrics(monkeypatch, endpoint=endpoint, cluster_id="abc")
        assert refused("--actual", config=_EXAMPLE) == snapshot


@pytest.mark.parametrize("config", [_EXAMPLE, _EXAMPLES / "eks-p4d.yaml", _EXAMPLES / "names.yaml"])
def test_without_metrics_it_says_what_to_switch_on(
    config: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    deployed_with_metrics(monkeypatch, endpoint=None, cluster_id="abc")
    assert refused("--actual", config=config) == snapshot(name=config.stem)


def test_a_local_aws_has_no_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    said = refused("--actual", config=_EXAMPLE)
    assert "--actual: the local AWS keeps no metrics; run it on a deployment to AWS" in said


def test_json_has_the_sums_and_what_they_are_made_of(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    group = "{name: a, instance_type: ml.m5.2xlarge, instance_count: 3}"
    path.write_text(f"name: ml\nregion: us-west-2\ncluster: {{instance_groups: [{group}]}}\n")
    said = ran("cost", path, "--json")
    assert (said.code, said.err) == (0, "")
    found = json.loads(said.out)

    assert (found["region"], found["currency"]) == ("us-west-2", "USD")
    priced = [each["month"] for each in found["standing"] if each["month"] is not None]
    assert sum(priced) == pytest.approx(found["month"])
    (nodes,) = [each for each in found["nodes"] if each["quantity"] == 3]
    assert nodes["unit"] == "hour"
    assert nodes["month"] == pytest.approx(3 * 730 * nodes["price"])
    assert set(nodes) == {
        *("name", "detail", "quantity", "price", "unit", "month", "estimate", "note")
    }


@pytest.mark.parametrize(
    "options",
    [
        ("--actual", "--month", "november"),
        ("--actual", "--month", "2099-01"),
        ("--month", "2020-01"),
    ],
)
def test_options_that_do_not_fit(options: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    now = datetime.now(UTC)
    assert refused(*options, config=_EXAMPLE).replace(f"{now:%Y-%m}", "NOW") == snapshot

"""`hyperpod-cdk cost --actual` with a real Prometheus, whose metrics are the exporters'."""

import json
from typing import Any

import pytest

from hyperpod_cdk.facts.prices import estimate_of, price_of
from tests.prometheus.metrics import BEGIN, CLUSTER, GPU, NEURON, PLAIN
from tests.prometheus.server import Prometheus
from tests.support.commands import run
from tests.support.configs import CONFIG_FOLDER
from tests.support.metrics_account import REGION, deployed_with_metrics

_EXAMPLE = CONFIG_FOLDER / "examples" / "observability-prometheus.yaml"
_SAMPLES = 25  # of six hours, one each quarter


def actual(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    month = f"{BEGIN:%Y-%m}"
    code = run("cost", "--actual", "--month", month, "--config", _EXAMPLE, *options)
    return code, *capsys.readouterr()


def usd(instance_type: str) -> float:
    price = price_of("HyperPod", instance_type, region=REGION) or estimate_of(
        "HyperPod", instance_type, region=REGION
    )
    assert price is not None
    return float(price.usd)


def test_hours_are_those_of_the_pods_and_nodes(
    prometheus: Prometheus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed_with_metrics(monkeypatch, endpoint=prometheus.url, cluster_id=CLUSTER)
    code, out, err = actual(capsys, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    parts = {part["name"]: part for part in found["parts"]}

    assert [*parts] == ["research", "idle", "nodes without accelerators", "all nodes"]
    hours = _SAMPLES / 4
    assert parts["all nodes"]["node_hours"] == pytest.approx(5 * hours)
    assert parts["nodes without accelerators"]["node_hours"] == pytest.approx(hours)
    assert parts["nodes without accelerators"]["usd"] == pytest.approx(hours * usd(PLAIN), abs=0.1)
    used, idle = parts["research"], parts["idle"]
    assert used["node_hours"] + idle["node_hours"] == pytest.approx(4 * hours)
    assert used["share"] + idle["share"] == pytest.approx(1, abs=0.001)
    # Two nodes with GPUs and the Trainium node work from the second hour on.
    assert used["node_hours"] == pytest.approx(3 * (_SAMPLES - 4) / 4)
    both = used["usd"] + idle["usd"]
    assert both == pytest.approx(hours * (3 * usd(GPU) + usd(NEURON)), abs=0.1)


def test_another_cluster_of_the_workspace_is_not_counted(
    prometheus: Prometheus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed_with_metrics(monkeypatch, endpoint=prometheus.url, cluster_id="another")
    code, out, err = actual(capsys)
    assert (code, out) == (2, "")
    assert "--month: 2026-01 " in err


def test_the_table_has_a_line_for_each(
    prometheus: Prometheus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed_with_metrics(monkeypatch, endpoint=prometheus.url, cluster_id=CLUSTER)
    code, out, _ = actual(capsys)
    assert code == 0
    assert out.startswith("measured-cluster from 2026-01-15T06:00:00Z to 2026-01-15T12:00:00Z, ")
    names = [line.split("  ")[0].strip() for line in out.splitlines()[2:]]
    assert names[:3] == ["team", "research", "idle"]

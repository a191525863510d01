"""No editor acts as a service account of a chart: each namespace that one makes is closed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperpod_cdk.config.closed_namespaces import CLOSED_NAMESPACES
from hyperpod_cdk.node_health.section import RELEASE as NODE_HEALTH
from hyperpod_cdk.observability.section import RELEASE as GRAFANA
from tests.charts.test_grafana_chart import VALUES as OF_GRAFANA
from tests.charts.test_recurring_health import VALUES as OF_NODE_HEALTH
from tests.support.chart_rendering import objects
from tests.support.configs import REPOSITORY

CHARTS = REPOSITORY / "charts"
MAKING: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "grafana": (GRAFANA, OF_GRAFANA),
    "node-health": (NODE_HEALTH, OF_NODE_HEALTH),
}
# Those of claims and editors are users' own: the configuration names them.
OF_USERS = {"fsx-storage", "namespace-isolation"}


def test_every_chart_that_makes_a_namespace_is_known() -> None:
    found = {
        path.relative_to(CHARTS).parts[0]
        for path in CHARTS.rglob("templates/*.yaml")
        if any(each.strip() == "kind: Namespace" for each in path.read_text("utf-8").splitlines())
    }

    assert found == MAKING.keys() | OF_USERS


def test_what_the_charts_make_is_closed(tmp_path: Path) -> None:
    made = {
        each["metadata"]["name"]
        for chart, (release, values) in MAKING.items()
        for each in objects(CHARTS / chart, values=values, home=tmp_path, release=release)
        if each["kind"] == "Namespace"
    }

    assert len(made) == len(MAKING)
    assert made <= CLOSED_NAMESPACES

"""Each query of the panels, asked of a real Prometheus with metrics named as the exporters do."""

import re

import pytest

from hyperpod_cdk.panels.rules import filled
from hyperpod_cdk.panels.subjects import SUBJECTS
from tests.prometheus.metrics import CLUSTER, EC2, GPU, HOURS, NEURON, PLAIN
from tests.prometheus.server import STEP_SECONDS, Prometheus, everything

ALL = HOURS * 3600 // STEP_SECONDS + 1
PANELS = {
    panel.title: panel for subject in SUBJECTS.values() for panel in subject.panels if panel.promql
}


@pytest.mark.parametrize("title", PANELS)
def test_a_query_finds_what_its_legend_names(title: str, prometheus: Prometheus) -> None:
    panel = PANELS[title]
    found = prometheus.series(filled(panel.promql, matcher=f'cluster_id=~"{CLUSTER}"'))

    assert found, "give metrics.py the series of the panel"
    labels = re.findall(r"{{(\w+)}}", panel.line_name)
    legends = [tuple(each.get(label) for label in labels) for each, _ in found]
    assert all(all(named) for named in legends)
    # Two lines of one name could not be told apart.
    assert len({*legends}) == len(legends)
    # A panel that shows the same all the time has not been tried.
    seen = {value for _, values in found for _, value in values}
    assert len(seen) > 1 or any(len(values) < ALL for _, values in found)
    assert not prometheus.series(filled(panel.promql, matcher='cluster_id="another"'))


def last(prometheus: Prometheus, title: str) -> dict[str, float]:
    """Return the last value of each line of a panel by its label."""
    panel = PANELS[title]
    (label,) = re.findall(r"{{(\w+)}}", panel.line_name) or ["cluster_id"]
    return {each[label]: values[-1][1] for each, values in prometheus.series(filled(panel.promql))}


def test_dollars_are_those_of_the_price_list(prometheus: Prometheus) -> None:
    prices = {name: float(usd) for name, usd in everything().prices.items()}
    dollars = last(prometheus, "Dollars an hour")

    assert set(prices) <= {GPU, NEURON, PLAIN, EC2}
    nodes = {GPU: 3, NEURON: 1, PLAIN: 1}
    assert dollars == pytest.approx({name: count * prices[name] for name, count in nodes.items()})
    # The node that failed has no pod, and that of Trainium had none in the first hour.
    without_work = last(prometheus, "Dollars an hour of nodes without work")
    assert without_work == pytest.approx({f"group-{name}": prices[name] for name in (GPU, NEURON)})
    # Three nodes have all their accelerators in pods of its namespace.
    by_team = last(prometheus, "Dollars an hour by team")
    assert by_team == pytest.approx({"research": 2 * prices[GPU] + prices[NEURON]})


def test_what_is_wrong_in_the_metrics_is_seen(prometheus: Prometheus) -> None:
    temperatures = {
        labels["Hostname"]: max(value for _, value in values)
        for labels, values in prometheus.series(filled(PANELS["GPU temperature"].promql))
    }

    assert [name for name, most in temperatures.items() if most > 85] == ["hyperpod-i-0b22"]
    assert last(prometheus, "Idle GPUs") == {CLUSTER: 8}
    assert last(prometheus, "Nodes that are not ready") == {CLUSTER: 1}
    assert last(prometheus, "EFA bytes sent twice") == pytest.approx(
        {"hyperpod-i-0a11": 0.02, "hyperpod-i-0b22": 1.8}
    )
    assert last(prometheus, "Utilization of all NeuronCores") == {CLUSTER: 0}

"""The panels: what each says, and what becomes of it for Prometheus and Grafana."""

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from hyperpod_cdk.panels import subjects
from hyperpod_cdk.panels.definition import Panel, Watched, watched
from hyperpod_cdk.panels.grafana import dashboards
from hyperpod_cdk.panels.rules import filled, rules
from hyperpod_cdk.panels.subjects import SUBJECTS
from tests.support.configs import configured

PANELS = [panel for subject in SUBJECTS.values() for panel in subject.panels]
GPU, NEURON, PLAIN = "ml.p5.48xlarge", "ml.trn1.32xlarge", "ml.m5.2xlarge"


def seen(*types: str, **further: Any) -> Watched:
    """Return what is watched of a deployment with nodes of some types, and no file system."""
    groups = [
        {"name": f"group-{index}", "instance_type": name, "instance_count": 1}
        for index, name in enumerate(types)
    ]
    document = {"region": "us-west-2", "storage": None, "cluster": {"instance_groups": groups}}
    return watched(configured({**document, **further}))


def test_each_subject_is_a_file() -> None:
    files = {path.stem for path in Path(subjects.__path__[0]).glob("*.yaml")}

    assert set(SUBJECTS) == files


@pytest.mark.parametrize("panel", PANELS, ids=[panel.title for panel in PANELS])
def test_a_panel_says_what_why_and_what_to_do(panel: Panel) -> None:
    sentences = (panel.what, panel.why, panel.to_do)

    assert all(text[0].isupper() and text.endswith(".") for text in sentences)
    (subject,) = (each for each in SUBJECTS.values() if panel in each.panels)
    sources = panel.sources or subject.sources
    assert sources
    assert all(source.startswith("https://") for source in sources)
    assert panel.cloudwatch or panel.promql
    # CloudWatch looks at no more than a day: https://docs.aws.amazon.com/AmazonCloudWatch/latest/
    # APIReference/API_PutMetricAlarm.html
    if panel.alarm is not None:
        assert panel.alarm.minutes % 5 == 0 < panel.alarm.minutes <= 24 * 60
        # An alarm has no search.
        assert not panel.cloudwatch or panel.cloudwatch[0].metrics
    for line in panel.cloudwatch:
        assert {*re.findall(r"\bm\d\b", line.expression)} == (
            {f"m{number + 1}" for number, _ in enumerate(line.metrics)}
            if line.expression
            else set()
        )


def test_titles_and_alarms_have_names_of_their_own() -> None:
    titles = [panel.title for panel in PANELS]
    alarms = [panel.alarm.name for panel in PANELS if panel.alarm is not None]

    assert len(titles) == len({*titles})
    assert len(alarms) == len({*alarms})


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        pytest.param([PLAIN], {"cost", "jobs", "nodes"}, id="no accelerators"),
        pytest.param([GPU], {"cost", "efa", "gpus", "jobs", "nodes"}, id="GPUs"),
        pytest.param(
            [NEURON, PLAIN], {"cost", "efa", "jobs", "neuron", "nodes"}, id="Neuron and others"
        ),
    ],
)
def test_what_a_deployment_lacks_has_no_dashboard(types: list[str], shown: set[str]) -> None:
    assert set(dashboards(seen(*types))) == shown


def test_slurm_has_what_needs_no_agent() -> None:
    found = seen(PLAIN, storage={"capacity_gib": 1200})
    slurm = replace(found, eks_cluster_name=None)

    assert [*dashboards(slurm)] == ["lustre"]


def test_a_file_system_that_grows_cannot_fill_up() -> None:
    tiered = {"storage_type": "INTELLIGENT_TIERING", "throughput_mbps": 4000}
    found = seen(PLAIN, storage=tiered)

    assert [panel.title for panel in found.panels_of(SUBJECTS["lustre"])] == [
        "Throughput",
        "Metadata operations",
    ]


def test_nodes_are_counted_by_kind_at_the_highest_price() -> None:
    both = seen(GPU, "ml.p5en.48xlarge", PLAIN, observability={"cloudwatch": {}})
    (panel, *_) = SUBJECTS["cost"].panels
    lines = {line.label: both.filled(line.expression) for line in both.lines_of(panel)}

    assert both.dearest["GPU"] == max(usd for name, usd in both.prices.items() if name != PLAIN)
    assert lines["GPU nodes"].endswith(f"* {both.dearest['GPU']}")
    assert 'MetricName="node_gpu_utilization" ClusterName="ml-eks"' in lines["GPU nodes"]
    assert "FILL(SUM" in lines["other nodes"]
    assert "Neuron nodes" not in lines


def test_a_price_that_is_not_known_is_left_out_everywhere() -> None:
    found = Watched(
        name="test",
        eks_cluster_name="test-eks",
        has=frozenset({"Neuron", "other"}),
        prices={PLAIN: Decimal("0.5")},
        dearest={"other": Decimal("0.5")},
        sent=frozenset({"AWS", "nodes", "accelerators"}),
    )
    (panel, *_) = SUBJECTS["cost"].panels

    assert [line.label for line in found.lines_of(panel)] == ["other nodes"]
    assert "trn1" not in rules(found)


def test_alarms_become_rules_unless_somebody_else_tells() -> None:
    found = seen(GPU, PLAIN)
    groups = {each["name"]: each["rules"] for each in yaml.safe_load(rules(found))["groups"]}
    told = replace(found, sent=frozenset({"AWS", "nodes", "accelerators"}))
    quiet = yaml.safe_load(rules(told))["groups"]

    # What CloudWatch cannot show, it cannot tell.
    assert [each["alert"] for group in quiet for each in group["rules"] if "alert" in each] == [
        "GroupIdle"
    ]
    alerts = {each["alert"]: each for each in groups["hyperpod-alarms"]}
    assert alerts["GpuTooHot"] == {
        "alert": "GpuTooHot",
        "expr": "(max by (cluster_id, Hostname) (DCGM_FI_DEV_GPU_TEMP)) > 85",
        "for": "5m",
        "labels": {"subject": "gpus"},
        "annotations": {
            "summary": "GPU temperature of {{ $labels.Hostname }}: {{ $value | humanize }} °C",
            "description": SUBJECTS["gpus"].panels[5].description,
        },
    }
    assert alerts["GpusIdle"]["expr"].endswith(" < 5")
    assert "NeuronCoresIdle" not in alerts
    prices = {
        each["labels"]["instance_type"]: each["expr"]
        for each in groups["hyperpod-cost"]
        if "labels" in each
    }
    assert prices == {name: f"vector({usd})" for name, usd in found.prices.items()}


@pytest.mark.parametrize("matcher", ["", 'cluster_id="abc"'])
def test_a_query_reads_one_cluster_or_all(matcher: str) -> None:
    queries = [panel.promql for panel in PANELS if panel.promql]
    texts = [filled(query, matcher=matcher) for query in queries]

    assert not [text for text in texts if Template(text).get_identifiers()]
    assert not [text for text in texts if "{}" in text or ",}" in text]
    assert all((matcher in text) is True for text in texts)


def test_grafana_shows_what_the_definition_asks() -> None:
    found = seen(GPU, NEURON, PLAIN, storage={"capacity_gib": 1200})
    made = dashboards(found)

    for name, dashboard in made.items():
        panels = {each["title"]: each for each in dashboard["panels"]}
        defined = found.panels_of(SUBJECTS[name])
        assert [*panels] == [panel.title for panel in defined]
        assert len({each["id"] for each in panels.values()}) == len(panels)
        places = [(each["gridPos"]["x"], each["gridPos"]["y"]) for each in panels.values()]
        assert len({*places}) == len(places)
        for panel in defined:
            shown = panels[panel.title]
            assert shown["description"] == panel.description
            assert shown["fieldConfig"]["defaults"]["unit"] == panel.unit
            if panel.promql:
                (target,) = shown["targets"]
                matcher = 'cluster_id=~"$cluster_id"'
                assert target["expr"] == filled(panel.promql, matcher=matcher)
            else:
                names = [each.get("metricName") for each in shown["targets"]]
                metrics = [metric for line in panel.cloudwatch for metric in line.metrics]
                assert [name for name in names if name] == metrics
        # What a query names, the dashboard lets one choose.
        variables = {each["name"] for each in dashboard["templating"]["list"]}
        text = str(dashboard["panels"])
        assert {*re.findall(r"\$\{?([a-z_]+)", text)} == variables

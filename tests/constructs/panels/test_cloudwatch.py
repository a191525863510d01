"""CloudWatch's dashboard and alarms, and what a workspace of Prometheus gets."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from aws_cdk import App, Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from hyperpod_cdk.panels.definition import Watched, watched
from hyperpod_cdk.panels.resources import PanelsAndAlarms
from hyperpod_cdk.panels.rules import rules
from hyperpod_cdk.panels.subjects import SUBJECTS, alarm_metrics, shown
from tests.support.configs import configured

GROUPS = [
    {"name": "gpu", "instance_type": "ml.p5.48xlarge", "instance_count": 1},
    {"name": "system", "instance_type": "ml.m5.2xlarge", "instance_count": 1},
]
FILES = {
    "capacity_gib": 1200,
    "more_file_systems": [{"name": "scratch", "capacity_gib": 1200}],
}
OUTPUTS = {"FileSystemId": "fs-1", "ScratchFileSystemId": "fs-2"}


def seen(**observability: Any) -> Watched:
    """Return what is watched of a cluster with GPUs and two file systems."""
    document = {
        "region": "us-west-2",
        "storage": FILES,
        "observability": observability,
        "cluster": {"instance_groups": GROUPS},
    }
    return watched(configured(document), outputs=OUTPUTS)


def resources(found: Watched, *, told: bool = False) -> dict[str, list[Mapping[str, Any]]]:
    """Return the properties of what is made, by type."""
    stack = Stack(App(builtin_cloud_formation_validation=False), "test-observability")
    topic = sns.Topic(stack, "Topic") if told else None
    PanelsAndAlarms(stack, "Panels", watched=found, topic=topic)
    made: dict[str, list[Mapping[str, Any]]] = {}
    for each in Template.from_stack(stack).to_json()["Resources"].values():
        made.setdefault(each["Type"].rpartition("::")[2], []).append(each.get("Properties", {}))
    return made


def body(made: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    (dashboard,) = made["Dashboard"]
    parts = dashboard["DashboardBody"]["Fn::Join"][1]
    return json.loads("".join(each if isinstance(each, str) else "us-west-2" for each in parts))


def test_each_panel_is_shown_and_each_alarm_made() -> None:
    found = seen(cloudwatch={})
    made = resources(found)
    widgets = [each["properties"] for each in body(made)["widgets"]]
    panels = [(subject, panel) for subject, panels in shown(found) for panel in panels]

    assert [each["title"] for each in widgets if "title" in each] == [
        panel.title for _, panel in panels
    ]
    # One for each file system.
    alarms = {each["AlarmDescription"].partition(".")[0]: each for each in made["Alarm"]}
    assert len(made["Alarm"]) == len(alarms) + 1
    for _, panel in panels:
        if panel.alarm is None:
            assert panel.title not in alarms
            continue
        alarm = alarms[panel.title]
        assert panel.to_do in alarm["AlarmDescription"]
        assert alarm["Threshold"] == panel.alarm.threshold
        assert alarm["ComparisonOperator"].startswith("Greater") is panel.alarm.is_above
        assert alarm["EvaluationPeriods"] * 5 == panel.alarm.minutes
        names = [
            each["MetricStat"]["Metric"]["MetricName"]
            for each in alarm["Metrics"]
            if "MetricStat" in each
        ]
        assert names == [*panel.cloudwatch[0].metrics]
        made_of = {each["Id"] for each in alarm["Metrics"] if "MetricStat" in each}
        for each in alarm["Metrics"]:
            assert {*re.findall(r"\w*\bm\d|\w+_m\d", each.get("Expression", ""))} <= made_of


def test_an_alarm_of_a_file_system_is_about_that_one() -> None:
    filling = [
        {
            dimension["Value"]
            for metric in alarm["Metrics"]
            if "MetricStat" in metric
            for dimension in metric["MetricStat"]["Metric"]["Dimensions"]
        }
        for alarm in resources(seen(notifications={}))["Alarm"]
    ]

    assert filling == [{"fs-1"}, {"fs-2"}]


@pytest.mark.parametrize("told", [True, False])
def test_alarms_tell_a_topic_if_there_is_one(told: bool) -> None:
    made = resources(seen(cloudwatch={}), told=told)

    assert all(("AlarmActions" in each) is told for each in made["Alarm"])


@pytest.mark.parametrize(
    ("observability", "subjects"),
    [
        pytest.param({"notifications": {}}, {"lustre"}, id="no agent"),
        pytest.param(
            {"cloudwatch": {"accelerators": False}, "prometheus": {}},
            # Nodes cannot be told apart, and so not be priced.
            {"jobs", "lustre", "nodes"},
            id="accelerators in Prometheus",
        ),
        pytest.param(
            {"cloudwatch": {}}, {"cost", "efa", "gpus", "jobs", "lustre", "nodes"}, id="all"
        ),
    ],
)
def test_cloudwatch_shows_what_it_is_sent(
    observability: dict[str, Any], subjects: set[str]
) -> None:
    found = seen(**observability)
    names = {id(subject): name for name, subject in SUBJECTS.items()}

    assert {names[id(subject)] for subject, _ in shown(found)} == subjects


@pytest.mark.parametrize(
    "observability",
    [{"notifications": {}}, {"cloudwatch": {"accelerators": False}}, {"cloudwatch": {}}],
)
def test_nobody_is_told_twice(observability: dict[str, Any]) -> None:
    found = seen(**observability)
    in_cloudwatch = {
        panel.alarm.name for _, panels in shown(found) for panel in panels if panel.alarm
    }
    groups = yaml.safe_load(rules(found))["groups"]
    in_prometheus = {
        each["alert"] for group in groups for each in group["rules"] if "alert" in each
    }

    assert not in_cloudwatch & in_prometheus
    assert in_cloudwatch | in_prometheus == {
        panel.alarm.name
        for subject in SUBJECTS.values()
        for panel in found.panels_of(subject)
        if panel.alarm
    }


def test_what_alarms_read_is_what_is_billed() -> None:
    found = seen(cloudwatch={})
    alarms = resources(found)["Alarm"]

    assert alarm_metrics(found) == sum(
        "MetricStat" in metric for alarm in alarms for metric in alarm["Metrics"]
    )

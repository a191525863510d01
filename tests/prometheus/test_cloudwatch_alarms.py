"""CloudWatch's alarms, each with metrics that raise it and some that do not.

Their expressions are arithmetic, which PromQL writes alike, so that promtool judges them. The
values are those of a period's statistic.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App, Stack
from aws_cdk.assertions import Template

from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.resources import PanelsAndAlarms
from hyperpod_cdk.panels.subjects import shown
from tests.prometheus.metrics import GPU, NEURON
from tests.prometheus.server import promtool
from tests.support.configs import configured

GROUPS = [
    {"name": name, "instance_type": kind, "instance_count": 1}
    for name, kind in (("gpu", GPU), ("neuron", NEURON))
]
SEEN = watched(
    configured(
        {
            "region": "us-west-2",
            "observability": {"cloudwatch": {}},
            "cluster": {"instance_groups": GROUPS},
        }
    ),
    outputs={"FileSystemId": "fs-1"},
)
NAMES = {
    panel.title: panel.alarm.name
    for _, panels in shown(SEEN)
    for panel in panels
    if panel.alarm is not None
}
Values = Mapping[str, float]
# Of each alarm: what raises it, and what just does not.
CASES: Mapping[str, tuple[Values, Values]] = {
    "ContainersCrash": (
        {"pod_container_status_waiting_reason_crash_loop_back_off": 5},
        {"pod_container_status_waiting_reason_crash_loop_back_off": 0},
    ),
    "EfaSendsTwice": (
        {"node_efa_retrans_bytes": 2, "node_efa_tx_bytes": 100},
        {"node_efa_retrans_bytes": 1, "node_efa_tx_bytes": 100},
    ),
    "FileSystemFills": (
        {"PhysicalDiskUsage": 86, "FreeDataStorageCapacity": 14},
        {"PhysicalDiskUsage": 85, "FreeDataStorageCapacity": 15},
    ),
    "GpuTooHot": ({"node_gpu_temperature": 86}, {"node_gpu_temperature": 85}),
    "GpusIdle": ({"node_gpu_utilization": 4}, {"node_gpu_utilization": 5}),
    "NeuronCoresIdle": ({"node_neuroncore_utilization": 0}, {"node_neuroncore_utilization": 5}),
    "NodesNotReady": ({"cluster_failed_node_count": 1}, {"cluster_failed_node_count": 0}),
    "PodsPending": ({"pod_status_pending": 5}, {"pod_status_pending": 0}),
}


@pytest.fixture(scope="module")
def alarms() -> Mapping[str, Mapping[str, Any]]:
    """Return the alarms by the names of their panels' ones."""
    stack = Stack(App(builtin_cloud_formation_validation=False), "Observed")
    PanelsAndAlarms(stack, "Panels", watched=SEEN)
    found = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    made = [each["Properties"] for each in found]
    return {NAMES[each["AlarmDescription"].partition(".")[0]]: each for each in made}


def expression(alarm: Mapping[str, Any]) -> str:
    """Return what an alarm compares, with the metrics by their names."""
    if "MetricName" in alarm:
        return str(alarm["MetricName"])
    by_id = {
        each["Id"]: each["MetricStat"]["Metric"]["MetricName"]
        for each in alarm["Metrics"]
        if "MetricStat" in each
    }
    text = next((each["Expression"] for each in alarm["Metrics"] if "Expression" in each), None)
    pattern = re.compile("|".join(map(re.escape, by_id)))
    return pattern.sub(lambda match: by_id[match[0]], text or next(iter(by_id)))


def test_each_alarm_is_tried(alarms: Mapping[str, Any]) -> None:
    assert alarms.keys() == CASES.keys(), "add a row of CASES"


@pytest.mark.parametrize("name", CASES)
def test_an_alarm_is_raised_by_what_is_wrong_alone(
    name: str, alarms: Mapping[str, Mapping[str, Any]], tmp_path: Path
) -> None:
    alarm = alarms[name]
    sign = {"GreaterThanThreshold": ">", "LessThanThreshold": "<"}[alarm["ComparisonOperator"]]
    minutes = alarm["EvaluationPeriods"] * 5
    rule = {
        "alert": name,
        "expr": f"({expression(alarm)}) {sign} {alarm['Threshold']}",
        "for": f"{minutes}m",
    }
    (tmp_path / "rules.yaml").write_text(
        yaml.safe_dump({"groups": [{"name": "alarms", "rules": [rule]}]}), "utf-8"
    )

    def moment(at: int, *, is_raised: bool) -> dict[str, Any]:
        told: list[Any] = [{"exp_labels": {}}] if is_raised else []
        return {"eval_time": f"{at}m", "alertname": name, "exp_alerts": told}

    wrong, right = CASES[name]
    tests = [
        {
            "interval": "1m",
            "input_series": [
                {"series": series, "values": f"{value}+0x300"} for series, value in given.items()
            ],
            "alert_rule_test": expected,
        }
        for given, expected in (
            (wrong, [moment(minutes - 1, is_raised=False), moment(minutes + 1, is_raised=True)]),
            (right, [moment(minutes + 60, is_raised=False)]),
            ({}, [moment(minutes + 60, is_raised=False)]),
        )
    ]
    tried = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(tried), "utf-8")

    assert alarm["TreatMissingData"] == "notBreaching"
    assert "SUCCESS" in promtool("test", "rules", tmp_path / "test.yaml")

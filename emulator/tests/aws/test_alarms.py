"""Alarms over several metrics and rules of Prometheus on the local AWS, and what it refuses."""

from typing import Any

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import StackFailedError, client, delete, deploy

RULES = "groups:\n- name: cost\n  rules:\n  - record: a\n    expr: vector(1)\n"


def _read(identifier: str, *, period: int = 300) -> dict[str, Any]:
    metric = {"Namespace": "AWS/FSx", "MetricName": "DataReadBytes"}
    stat = {"Metric": metric, "Period": period, "Stat": "Sum"}
    return {"Id": identifier, "MetricStat": stat, "ReturnData": False}


def _share(expression: str = "m1 / PERIOD(m1)", **changes: Any) -> dict[str, Any]:
    return {"Id": "share", "Expression": expression, "ReturnData": True, **changes}


def _alarm(*metrics: dict[str, Any], periods: int = 3) -> dict[str, Any]:
    return {
        "Alarm": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": periods,
                "Threshold": 1,
                "Metrics": list(metrics),
            },
        }
    }


@pytest.mark.parametrize(
    ("metrics", "periods", "message"),
    [
        pytest.param([_share("1 + 1")], 3, "at least one metric", id="none"),
        pytest.param([_read("m1"), _share(ReturnData=False)], 3, "Exactly one", id="silent"),
        pytest.param([_read("m2"), _share()], 3, "Undefined variables", id="unknown"),
        pytest.param([_read("M1"), _share("1")], 3, "lower-case", id="name"),
        pytest.param(
            [_read("m1"), _share("SUM(SEARCH('{A} b', 'Sum', 300))")], 3, "SEARCH", id="s"
        ),
        pytest.param([_read("m1"), _share()], 289, "more than a day", id="long"),
        pytest.param(
            [*(_read(f"m{number}") for number in range(11)), _share()], 3, "at most 10", id="many"
        ),
    ],
)
def test_an_alarm_that_aws_refuses(
    metrics: list[dict[str, Any]], periods: int, message: str, aws: LocalAws
) -> None:
    with pytest.raises(StackFailedError, match=message):
        deploy(aws, _alarm(*metrics, periods=periods), {})


def test_an_alarm_over_several_metrics_is_made_changed_and_deleted(aws: LocalAws) -> None:
    metrics = (_read("m1"), _share())
    name = {"Name": {"Ref": "Alarm"}}
    stack = deploy(aws, _alarm(*metrics), name)
    cloudwatch = client(aws, "cloudwatch")

    def found() -> list[dict[str, Any]]:
        answer = cloudwatch.describe_alarms(AlarmNames=[stack.outputs["Name"]])
        alarms: list[dict[str, Any]] = answer["MetricAlarms"]
        return alarms

    assert [each["EvaluationPeriods"] for each in found()] == [3]
    deploy(aws, _alarm(*metrics, periods=6), name, stack=stack.name)
    assert [each["EvaluationPeriods"] for each in found()] == [6]
    delete(aws, stack)
    assert not found()


def _rules(data: str, workspace: object) -> dict[str, Any]:
    properties = {"Name": "ml", "Workspace": workspace, "Data": data}
    return {
        "Workspace": {"Type": "AWS::APS::Workspace", "Properties": {}},
        "Rules": {"Type": "AWS::APS::RuleGroupsNamespace", "Properties": properties},
    }


OWN = {"Fn::GetAtt": ["Workspace", "Arn"]}
ABSENT = "arn:aws:aps:us-west-2:000000000000:workspace/ws-0"


@pytest.mark.parametrize(
    ("data", "workspace", "message"),
    [
        pytest.param("groups: [", OWN, "not valid", id="no YAML"),
        pytest.param("rules: []", OWN, "not valid", id="no groups"),
        pytest.param(f"{RULES}- name: cost\n", OWN, "groupname repeated", id="twice"),
        pytest.param(RULES, ABSENT, "Workspace not found", id="no workspace"),
    ],
)
def test_rules_that_prometheus_refuses(
    data: str, workspace: object, message: str, aws: LocalAws
) -> None:
    with pytest.raises(StackFailedError, match=message):
        deploy(aws, _rules(data, workspace), {})


def test_rules_are_in_their_workspace(aws: LocalAws) -> None:
    outputs = {"Arn": {"Fn::GetAtt": ["Rules", "Arn"]}, "Workspace": OWN}
    stack = deploy(aws, _rules(RULES, OWN), outputs)

    workspace = stack.outputs["Workspace"].replace(":workspace/", ":rulegroupsnamespace/")
    assert stack.outputs["Arn"] == f"{workspace}/ml"
    delete(aws, stack)

"""The report of a rehearsal: the cluster in it, and the end of the output."""

from pathlib import Path
from typing import Any, get_args

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_rehearsal.report import Fact, Report, StackReport, deployment_lines, summarize
from hyperpod_rehearsal.verification import cluster_report
from hyperpod_stacks.table import StackKind

FOLDER = Path("build/rehearsal")
# Of the 25 of a rehearsal: the rest are the first line, and one for each stack.
MOST_LINES = 25 - 1 - len(get_args(StackKind))


def test_nothing_is_said_of_what_never_was(snapshot: SnapshotAssertion) -> None:
    report = Report(config="c", scenario="default", error="it broke")
    assert summarize(report, work_directory=FOLDER) == snapshot


def test_outputs_are_in_the_log_and_the_report_alone(snapshot: SnapshotAssertion) -> None:
    outputs = {"ml-platform": {"GrantAdminCommand": "aws eks create-access-entry"}}
    stacks = [StackReport(name="ml-platform", status="CREATE_COMPLETE", seconds=3.0)]
    report = Report(config="c", scenario="default", ok=True, stacks=stacks, outputs=outputs)
    assert "aws eks create-access-entry" in "\n".join(deployment_lines(report))
    assert summarize(report, work_directory=FOLDER) == snapshot


def test_an_error_that_a_scenario_brings_on_purpose_is_no_failure(
    snapshot: SnapshotAssertion,
) -> None:
    report = Report(
        config="c",
        scenario="quota-exceeded",
        ok=True,
        seconds=20.4,
        stacks=[StackReport(name="ml-hyperpod", status="ROLLBACK_COMPLETE", seconds=3.0)],
        outputs={"ml-hyperpod": {}, "ml-storage": {"FileSystemId": "fs-1"}},
        verify=[Fact(title="the error names the key", ok=True)],
        error="no quota",
    )
    text = "\n".join(deployment_lines(report))
    assert "Outputs of ml-hyperpod" not in text
    assert "Outputs of ml-storage" in text
    assert summarize(report, work_directory=FOLDER) == snapshot


def test_a_failure_has_few_lines_its_cause_first(snapshot: SnapshotAssertion) -> None:
    checks = [Fact(title=f"check {number}", ok=False, found="gone") for number in range(40)]
    error = "\n".join(f"line {number}" for number in range(40))
    report = Report(config="c", scenario="default", verify=checks, error=error)

    lines = summarize(report, work_directory=FOLDER).splitlines()
    assert len(lines) <= MOST_LINES
    assert lines == snapshot


GROUP = {"InstanceGroupName": "g", "CurrentCount": 1, "TargetCount": 2, "Status": "InService"}


class Sagemaker:
    """Answers DescribeCluster."""

    def __init__(self, **groups: list[dict[str, Any]]) -> None:
        self.groups = groups

    def describe_cluster(self, **request: str) -> dict[str, Any]:
        return {
            "ClusterName": request["ClusterName"],
            "ClusterArn": "arn",
            "ClusterStatus": "InService",
            "InstanceGroups": [],
            **self.groups,
        }


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        pytest.param({"InstanceType": "ml.g5.xlarge"}, "ml.g5.xlarge", id="one"),
        pytest.param(
            {"InstanceRequirements": {"DesiredInstanceTypes": ["ml.g5.xlarge", "ml.g6.xlarge"]}},
            "ml.g5.xlarge or ml.g6.xlarge",
            id="several",
        ),
    ],
)
def test_a_group_shows_the_types_it_may_have(types: dict[str, Any], shown: str) -> None:
    sagemaker = Sagemaker(InstanceGroups=[{**GROUP, **types}])

    report = cluster_report(lambda _service: sagemaker, name="ml")

    assert report["instance_groups"] == [
        {
            "name": "g",
            "instance_type": shown,
            "current_count": 1,
            "target_count": 2,
            "status": "InService",
        }
    ]


def test_restricted_groups_follow_the_others() -> None:
    plain = {**GROUP, "InstanceType": "ml.g5.xlarge"}
    sagemaker = Sagemaker(
        InstanceGroups=[plain], RestrictedInstanceGroups=[{**plain, "InstanceGroupName": "nova"}]
    )

    report = cluster_report(lambda _service: sagemaker, name="ml")

    assert [group["name"] for group in report["instance_groups"]] == ["g", "nova"]

"""The report of a rehearsal: the cluster in it, and the end of the output."""

from pathlib import Path
from typing import Any

import pytest

from hyperpod_rehearsal.report import Fact, Report, StackReport, deployment_lines, summarize
from hyperpod_rehearsal.verification import cluster_report

PATH = Path("build/rehearsal/report.json")
PAGE = PATH.with_suffix(".html")


def test_nothing_is_said_of_what_never_was() -> None:
    said = summarize(Report(config="c", scenario="default", error="it broke"), report_path=PATH)
    assert said.splitlines() == [
        "",
        "Error",
        "  it broke",
        "",
        f"Rehearsal FAILED in 0 s. Report: {PAGE}; logs next to it.",
    ]


def test_what_was_kept_is_not_shown_again_after_it_is_gone() -> None:
    outputs = {"ml-platform": {"GrantAdminCommand": "aws eks create-access-entry"}}
    stacks = [StackReport(name="ml-platform", status="CREATE_COMPLETE", seconds=3.0)]
    report = Report(config="c", scenario="default", ok=True, stacks=stacks, outputs=outputs)
    assert "aws eks create-access-entry" in "\n".join(deployment_lines(report))
    said = summarize(report, report_path=PATH, kept=True).splitlines()
    assert said == [
        "",
        f"Rehearsal succeeded in 0 s. Report: {PAGE}; logs next to it.",
    ]


def test_an_error_that_a_scenario_brings_on_purpose_is_no_failure() -> None:
    report = Report(
        config="c",
        scenario="quota-exceeded",
        ok=True,
        seconds=20.4,
        stacks=[StackReport(name="ml-hyperpod", status="ROLLBACK_COMPLETE", seconds=3.0)],
        outputs={"ml-hyperpod": {}, "ml-storage": {"FileSystemId": "fs-1"}},
        verify=[Fact(title="the error says what is wrong and what to do", ok=True)],
        error="no quota",
    )
    lines = summarize(report, report_path=PATH).splitlines()
    assert "Outputs of ml-hyperpod" not in lines
    assert "Outputs of ml-storage" in lines
    assert "The error, as it had to come" in lines
    assert lines[-1].startswith("Rehearsal succeeded in 20 s. 1 of 1 checks passed. ")


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

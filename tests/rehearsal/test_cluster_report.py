"""The cluster in the rehearsal's report, as DescribeCluster shows it."""

from typing import Any

import pytest

from rehearsal.verification import cluster_report

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

    assert report.instance_groups == [
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

    assert [group["name"] for group in report.instance_groups] == ["g", "nova"]

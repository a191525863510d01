"""The cluster in the rehearsal's report, as DescribeCluster shows it."""

from typing import Any

import pytest

from rehearsal.inspection import cluster_report


class Sagemaker:
    """Answers DescribeCluster with one group."""

    def __init__(self, group: dict[str, Any]) -> None:
        self.group = group

    def describe_cluster(self, **request: str) -> dict[str, Any]:
        return {
            "ClusterName": request["ClusterName"],
            "ClusterArn": "arn",
            "ClusterStatus": "InService",
            "InstanceGroups": [self.group],
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
    counts = {"CurrentCount": 1, "TargetCount": 2, "Status": "InService"}
    sagemaker = Sagemaker({"InstanceGroupName": "g", **counts, **types})

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

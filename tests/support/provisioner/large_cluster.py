"""The largest HyperPod cluster there can be: 100 groups of 6,758 instances, all fields in use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_shared.owner import Owner
from tests.support.provisioner.cloudformation import STACK_ID

GROUPS, INSTANCES = 100, 6758
ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
NAME = "m" * 63


def group(number: int, *, count: int = INSTANCES) -> dict[str, Any]:
    """Return a group as a configuration with labels, taints and a schedule makes it."""
    rolling = {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 10}}
    return {
        "InstanceGroupName": f"{'worker-group-':w<50}{number:03}",
        "InstanceType": "ml.p6e-gb200.36xlarge",
        "InstanceCount": count,
        "MinInstanceCount": 1,
        "ExecutionRole": "arn:aws:iam::111122223333:role/ml-platform-ExecutionRole605A040B-x1Y2z3",
        "LifeCycleConfig": {
            "SourceS3Uri": "s3://sagemaker-ml-111122223333-us-west-2",
            "OnCreate": "on_create.sh",
        },
        "ThreadsPerCore": 2,
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 16384}}],
        "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
        "KubernetesConfig": {
            "Labels": {"team": "research", "example.com/tier": f"training-{number}"},
            "Taints": [{"Key": "team", "Value": "research", "Effect": "NoSchedule"}],
        },
        "ScheduledUpdateConfig": {
            "ScheduleExpression": "cron(0 2 ? * SUN#1 *)",
            "DeploymentConfig": {"RollingUpdatePolicy": rolling, "WaitIntervalInSeconds": 300},
        },
    }


def properties(*, count: int = INSTANCES, **more: str) -> dict[str, str]:
    """Return the custom resource's properties."""
    request = {
        "ClusterName": NAME,
        "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-1"]},
        "NodeRecovery": "Automatic",
        "NodeProvisioningMode": "Continuous",
        "InstanceGroups": [group(number, count=count) for number in range(GROUPS)],
        "Tags": [{"Key": f"tag-{number}", "Value": "v" * 100} for number in range(40)],
    }
    text = json.dumps(request, separators=(",", ":"))
    return {"ClusterName": NAME, "Request": text, **more}


@dataclass
class LargeSageMaker:
    """Answers for the cluster without simulating its 675,800 nodes."""

    requested: Mapping[str, Any]
    short: bool = False
    failure: str = "lifecycle scripts did not run successfully"
    status: str = "InService"
    calls: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(
        default_factory=lambda: dict(Owner(stack_id=STACK_ID, logical_id="Resource").tags)
    )

    def describe_cluster(self, *, ClusterName: str) -> dict[str, Any]:
        self.calls.append("DescribeCluster")
        return {
            "ClusterName": ClusterName,
            "ClusterArn": ARN,
            "ClusterStatus": self.status,
            "NodeProvisioningMode": "Continuous",
            "NodeRecovery": "Automatic",
            "InstanceGroups": [
                {
                    **group,
                    "TargetCount": group["InstanceCount"],
                    "CurrentCount": 0 if self.short else group["InstanceCount"],
                    "Status": "InService",
                }
                for group in self.requested["InstanceGroups"]
            ],
        }

    def update_cluster(self, **request: object) -> dict[str, Any]:
        self.calls.append("UpdateCluster")
        self.requested = {**self.requested, **request}
        return {"ClusterArn": ARN}

    def list_cluster_events(self, **request: object) -> dict[str, Any]:
        self.calls.append("ListClusterEvents")
        assert request
        return {
            "Events": [
                {
                    "EventId": str(number),
                    "EventLevel": "Error",
                    "InstanceGroupName": group["InstanceGroupName"],
                    "InstanceId": f"i-0123456789abcdef{number % 10}",
                    "Description": "Instance creation failed. " * 40,
                }
                for number, group in enumerate(self.requested["InstanceGroups"])
            ]
        }

    def describe_cluster_event(self, *, ClusterName: str, EventId: str) -> dict[str, Any]:
        self.calls.append("DescribeClusterEvent")
        assert ClusterName
        message = f"Event {EventId}: {self.failure}. " + "Why? " * 200
        return {
            "EventDetails": {
                "EventDetails": {"EventMetadata": {"Instance": {"FailureMessage": message}}}
            }
        }

    def list_tags(self, **request: object) -> dict[str, Any]:
        self.calls.append("ListTags")
        assert request
        return {"Tags": [{"Key": key, "Value": value} for key, value in self.tags.items()]}

    def add_tags(self, *, ResourceArn: str, Tags: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        self.calls.append("AddTags")
        assert ResourceArn
        self.tags |= {tag["Key"]: tag["Value"] for tag in Tags}
        return {}


def response_bytes(*, reason: str, data: Mapping[str, str] | None = None) -> int:
    """Return the size of what the framework puts to CloudFormation."""
    body = {
        "Status": "FAILED",
        "Reason": reason,
        "StackId": STACK_ID,
        "RequestId": "0" * 36,
        "PhysicalResourceId": NAME,
        "LogicalResourceId": "C" * 255,
        "Data": dict(data or {}),
    }
    return len(json.dumps(body, separators=(",", ":")).encode())

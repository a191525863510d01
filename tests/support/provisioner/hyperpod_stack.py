"""A stack with one HyperPod cluster, against the rehearsal's HyperPod API."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.hyperpod import Caller, HyperPodService, Timings, Unknowns
from hyperpod_shared.aws_errors import AwsClient
from provisioner.framework.resource import Progress
from provisioner.hyperpod.cluster import HyperPodCluster
from tests.support.provisioner.cloudformation import Framework, Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.local_sagemaker import LocalSageMaker

ROLE = "arn:aws:iam::111122223333:role/execution"
TIMINGS = Timings(create=100, update=60, delete=60)
LEFT_OUT_GROUPS = pytest.mark.parametrize(
    "unknowns",
    [Unknowns(left_out_groups="kept"), Unknowns(left_out_groups="removed")],
    ids=["left-out groups are kept", "left-out groups are removed"],
)
"""What AWS does with the groups that UpdateCluster does not name is not documented."""
CURRENT_COUNT = pytest.mark.parametrize(
    "unknowns",
    [Unknowns(current_count="running"), Unknowns(current_count="launched")],
    ids=["running nodes count", "launched nodes count"],
)
"""What CurrentCount counts is not documented."""


def group(name: str, count: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceCount": count,
        "InstanceType": "ml.m5.2xlarge",
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-b", "OnCreate": "on_create.sh"},
        **more,
    }


def properties(*groups: dict[str, Any], name: str = "ml-cluster", **more: Any) -> dict[str, Any]:
    request = {
        "ClusterName": name,
        "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-1"]},
        "InstanceGroups": list(groups),
        "NodeRecovery": "Automatic",
        "NodeProvisioningMode": "Continuous",
        "Tags": [{"Key": "team", "Value": "research"}],
        **more,
    }
    request = {key: value for key, value in request.items() if value is not None}
    return {"ClusterName": name, "Request": json.dumps(request)}


def slurm_group(name: str, node_type: str, partition: str = "", **more: Any) -> dict[str, Any]:
    partitions = {"PartitionNames": [partition]} if partition else {}
    return group(name, SlurmConfig={"NodeType": node_type, **partitions}, **more)


CONTROLLER, CPU = slurm_group("head", "Controller"), slurm_group("cpus", "Compute", "cpu")


def slurm_properties(
    *workers: dict[str, Any], mode: str | None = "Continuous", **settings: Any
) -> dict[str, Any]:
    """Return the properties of a cluster that Slurm orchestrates, with one controller."""
    return properties(
        *(workers or (CPU,)),
        CONTROLLER,
        Orchestrator={"Slurm": settings},
        NodeProvisioningMode=mode,
    )


ANOTHER_EKS_CLUSTER = {
    "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/another"}}
}
ONE = properties(group("workers"))
CLASSIC = properties(group("workers"), NodeProvisioningMode=None)


@dataclass
class HyperPodStack(Framework):
    """A stack whose only resource is a HyperPod cluster; CloudFormation's ways with it.

    `swept` has the clusters whose Kubernetes Nodes were deleted.
    """

    swept: list[str] = field(default_factory=list)

    def roll_back_creation(self, properties: Mapping[str, Any]) -> Progress:
        """Send the Delete that CloudFormation sends of its own after a failed Create."""
        self.properties = dict(properties)
        self.cloudformation.status = "ROLLBACK_IN_PROGRESS"
        return super().delete()

    def update(self, properties: Mapping[str, Any]) -> Progress:
        self.cloudformation.status = "UPDATE_IN_PROGRESS"
        return super().update(properties)

    def roll_back_update(self, wanted: Mapping[str, Any], before: Mapping[str, Any]) -> Progress:
        """Send the Update that takes back one that failed."""
        self.properties = dict(wanted)
        self.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
        return super().update(before)

    def delete(self) -> Progress:
        self.cloudformation.status = "DELETE_IN_PROGRESS"
        return super().delete()


def hyperpod_stack(sagemaker: AwsClient, time: Time, **options: Any) -> HyperPodStack:
    swept: list[str] = []
    return HyperPodStack(
        resource=HyperPodCluster(
            sagemaker=sagemaker,
            delete_node_objects=lambda cluster, _: swept.append(cluster["ClusterName"]),
        ),
        resource_type="Custom::HyperPodCluster",
        time=time,
        swept=swept,
        **options,
    )


def describe(sagemaker: LocalSageMaker, name: str = "ml-cluster") -> dict[str, Any]:
    return sagemaker.service.call("DescribeCluster", {"ClusterName": name}, Caller())


def tags_of_cluster(sagemaker: LocalSageMaker) -> dict[str, str]:
    arn = describe(sagemaker)["ClusterArn"]
    listed = sagemaker.service.call("ListTags", {"ResourceArn": arn}, Caller())["Tags"]
    return {tag["Key"]: tag["Value"] for tag in listed}


Hook = Callable[[str, Mapping[str, Any]], None]


def _nothing(_operation: str, _request: Mapping[str, Any]) -> None:
    pass


@dataclass
class TroubledSageMaker(LocalSageMaker):
    """Runs a test's hook before each call and after it; what a hook raises, the call raises."""

    before: Hook = _nothing
    after: Hook = _nothing

    def refuse(
        self, operations: str, error: Exception, *, when: Callable[[], bool] = lambda: True
    ) -> None:
        """Refuse some operations, by their names, from now on."""

        def before(operation: str, _request: Mapping[str, Any]) -> None:
            if operation in operations.split() and when():
                raise error

        self.before = before

    def _call(self, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.before(operation, request)
        answer = super()._call(operation, request)
        self.after(operation, request)
        return answer


def troubled_sagemaker(time: Time) -> TroubledSageMaker:
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS)
    return TroubledSageMaker(service=service)


def conflict(message: str = "The cluster is Updating") -> ClientError:
    return client_error("ConflictException", "Op", message)


def throttling() -> ClientError:
    return client_error("ThrottlingException", "Op", "Rate exceeded")

"""Requests and a clock for tests of the HyperPod API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_emulator.hyperpod import ApiError, Caller, HyperPodService, Subnet, Timings
from hyperpod_emulator.hyperpod.service_model import output_shape, violations_of

NAME = "ml-cluster"
ROLE = "arn:aws:iam::000000000000:role/ml-execution-role"
EKS_CLUSTER = "arn:aws:eks:us-west-2:000000000000:cluster/ml"
START = 1_800_000_000.0
LONG = 1_000.0
TIMINGS = Timings(
    create=10, update=5, delete=4, software_update=3, node_launch=2, lifecycle_script=1, node_stop=1
)
CONTINUOUS = {"NodeProvisioningMode": "Continuous"}


def group(name: str = "workers", count: int = 2, **members: Any) -> dict[str, Any]:
    """Return an instance group; a member given as None is left out."""
    spec = {
        "InstanceGroupName": name,
        "InstanceType": "ml.g5.12xlarge",
        "InstanceCount": count,
        "ExecutionRole": ROLE,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-ml", "OnCreate": "on_create.sh"},
    } | members
    return {member: value for member, value in spec.items() if value is not None}


def eks(name: str) -> dict[str, Any]:
    """Return the orchestrator of a cluster that has an EKS cluster of its own."""
    return {"Eks": {"ClusterArn": EKS_CLUSTER.replace("/ml", f"/{name}")}}


def create_request(*groups: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """Return a CreateCluster request for EKS; a member given as None is left out."""
    request = {
        "ClusterName": NAME,
        "InstanceGroups": list(groups) or [group()],
        "Orchestrator": {"Eks": {"ClusterArn": EKS_CLUSTER}},
        "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
        "NodeRecovery": "Automatic",
    } | members
    return {member: value for member, value in request.items() if value is not None}


@dataclass(slots=True)
class FakeClock:
    """A clock that moves only when it is told to."""

    now: float = START

    def __call__(self) -> float:
        """Return the time in epoch seconds."""
        return self.now


@dataclass(frozen=True, slots=True)
class KnownSubnets:
    """Knows every subnet, all with one range and in one zone."""

    cidr: str = "10.1.0.0/16"

    def find(self, subnet_id: str) -> Subnet:
        """Return the subnet."""
        return Subnet(
            subnet_id=subnet_id,
            cidr=self.cidr,
            availability_zone="us-west-2b",
            availability_zone_id="usw2-az2",
        )

    def zones(self) -> Mapping[str, str]:
        """Return two zones of the Region."""
        return {"us-west-2a": "usw2-az1", "us-west-2b": "usw2-az2"}

    def reaches_s3(self, **_: object) -> bool:
        """Let nodes reach it."""
        return True

    def mounts(self, *, storage: Sequence[object], **_: object) -> bool:  # noqa: ARG002 - fewer do
        """Let nodes mount all."""
        return True

    def passes_efa(self, **_: object) -> bool:
        """Let it pass."""
        return True


@dataclass(slots=True)
class Subject:
    """A service under test with its clock; every response is checked against the model."""

    service: HyperPodService
    clock: FakeClock
    caller: Caller = field(default_factory=Caller)

    def __call__(self, operation: str, **request: Any) -> dict[str, Any]:
        """Call an operation."""
        answer = self.service.call(operation, request, self.caller)
        assert list(violations_of(output_shape(operation), answer)) == []
        return answer

    def create(self, *groups: Mapping[str, Any], **members: Any) -> dict[str, Any]:
        """Create a cluster."""
        return self("CreateCluster", **create_request(*groups, **members))

    def refused(self, operation: str, **request: Any) -> ApiError:
        """Call an operation that must be refused."""
        try:
            self.service.call(operation, request, self.caller)
        except ApiError as error:
            return error
        message = f"{operation} was not refused"
        raise AssertionError(message)

    def wait(self, seconds: float = LONG) -> None:
        """Let time pass."""
        self.clock.now += seconds

    def status(self) -> str:
        """Return the cluster's status."""
        return str(self("DescribeCluster", ClusterName=NAME)["ClusterStatus"])

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return current and target count of each group."""
        groups = self("DescribeCluster", ClusterName=NAME)["InstanceGroups"]
        return {g["InstanceGroupName"]: (g["CurrentCount"], g["TargetCount"]) for g in groups}

    def nodes(self, **request: Any) -> list[dict[str, Any]]:
        """Return the nodes that have an instance."""
        answer = self("ListClusterNodes", ClusterName=NAME, **{"MaxResults": 100, **request})
        summaries: list[dict[str, Any]] = answer["ClusterNodeSummaries"]
        return summaries

    def events(self, **request: Any) -> list[dict[str, Any]]:
        """Return the cluster's events, the latest first."""
        answer = self("ListClusterEvents", ClusterName=NAME, **{"MaxResults": 100, **request})
        events: list[dict[str, Any]] = answer["Events"]
        return events


def subject(**options: Any) -> Subject:
    """Return a service on a fake clock."""
    clock = FakeClock()
    return Subject(service=HyperPodService(clock=clock, **options), clock=clock)


def running(**options: Any) -> Subject:
    """Return a subject with a cluster of two nodes in group a and one in group b."""
    api = subject(**options)
    api.create(group("a", 2), group("b", 1), **CONTINUOUS)
    api.wait()
    return api


def ids(api: Subject, group_name: str = "") -> list[str]:
    """Return the ids of a group's nodes, or of all."""
    nodes = api.nodes(InstanceGroupNameContains=group_name) if group_name else api.nodes()
    return [node["InstanceId"] for node in nodes]


def settled(*, groups: list[dict[str, Any]] | None = None, **members: Any) -> Subject:
    """Return an API with a cluster whose creation has ended."""
    api = subject(timings=TIMINGS)
    api.create(*(groups or []), **members)
    api.wait()
    return api


CHECKS = ["InstanceStress", "InstanceConnectivity"]
LIFECYCLE = {"SourceS3Uri": "s3://sagemaker-ml"}
TAINTS = {"Taints": [{"Key": "gpu", "Effect": "NoSchedule"}]}


TYPE = "ml.p5.48xlarge"


def offerings(service: HyperPodService, **request: Any) -> list[dict[str, Any]]:
    """Return what can be reserved for a HyperPod cluster: two instances unless others are given."""
    wanted = {"InstanceType": TYPE, "InstanceCount": 2, "TargetResources": ["hyperpod-cluster"]}
    answer = service.call("SearchTrainingPlanOfferings", {**wanted, **request}, Caller())
    found: list[dict[str, Any]] = answer["TrainingPlanOfferings"]
    return found


def create_plan(service: HyperPodService, name: str = "plan", **request: Any) -> str:
    """Buy the first of these offerings and return the plan's ARN."""
    offering = offerings(service, **request)[0]["TrainingPlanOfferingId"]
    bought = {"TrainingPlanName": name, "TrainingPlanOfferingId": offering}
    return str(service.call("CreateTrainingPlan", bought, Caller())["TrainingPlanArn"])

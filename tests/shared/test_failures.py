"""What AWS says of a failure, and the next step a user is given for it."""

from enum import StrEnum
from typing import Any

import botocore.session
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_shared.clusters import ClusterStatus, GroupStatus, SoftwareUpdateStatus
from hyperpod_shared.errors import MESSAGE_LIMIT_BYTES
from hyperpod_shared.failures import CAUSES, UNKNOWN, ReportedFailure, cause_of
from provisioner.hyperpod.failures import failure, refused_by_service

DESCRIBED = {
    "ClusterName": "ml-cluster",
    "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12",
    "ClusterStatus": "Failed",
}
SCRIPT = (
    'Instance i-1 failed to provision with the following error: "Lifecycle scripts did not run '
    "successfully. Ensure the scripts exist in provided S3 path, are accessible, and run without "
    'errors." Note that multiple instances may be impacted.'
)
MESSAGES = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
    "slurm.conf": [
        "Configuration drift detected.",
        "Partition configuration drift detected.",
        "Partition configuration mismatch detected.",
    ],
    "provisioning_parameters.json": [
        "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a "
        "provisioning_parameters.json file simultaneously.",
    ],
    "accounting database": ["The accounting database rejected the credentials"],
    "lifecycle script": [SCRIPT, "on_create.sh exited with 1"],
    "deep health check": ['"Deep health checks did not pass."', "DeepHealthCheck InstanceStress"],
    "IP addresses": [
        "There are not enough free addresses in subnet 'subnet-1' to satisfy the requested number "
        "of instances. (InsufficientFreeAddressesInSubnet)",
        "Insufficient free IP addresses in subnet-1",
    ],
    "network interfaces": ["You have reached the limit on the number of network interfaces"],
    "quota": [
        "ResourceLimitExceeded: The account-level service limit 'ml.g5.12xlarge for cluster usage' "
        "is 0 Instances. Please use AWS Service Quotas to request an increase for this quota.",
    ],
    "training plan": ["Training plan arn:aws:x is not active"],
    "capacity": [
        "We currently do not have sufficient capacity to launch new ml.p5.48xlarge instances. "
        "Please try again.",
        "We currently do not have sufficient ml.p5.48xlarge capacity in the Availability Zone you "
        "requested. Our system will be working on provisioning additional capacity.",
        "InsufficientInstanceCapacity",
        "InsufficientCapacityError",
        "There is insufficient capacity in usw2-az2",
    ],
    "access entry": [
        "The EKS access entry of the execution role could not be created",
        "EKS cluster has authentication mode CONFIG_MAP: use API",
    ],
    "execution role": [
        "Could not assume role arn:aws:iam::1:role/x. Please ensure that the role exists",
        "The execution role lacks permissions",
    ],
    "encryption key": ["KMS key is disabled", "no CreateGrant on the key"],
    "EFA": ["EFA health checks did not run successfully", "security group must allow itself"],
    "machine image": ["The AMI ami-0123456789abcdef0 is encrypted"],
    "permission": [
        "User is not authorized to perform: ec2:CreateNetworkInterface",
        "User: arn:aws:sts::1:assumed-role/x is not authorized to perform: s3:GetObject on "
        "resource arn:aws:s3:::sagemaker-b/on_create.sh: the lifecycle script cannot be read",
        "AccessDenied: the lifecycle scripts in s3://sagemaker-b",
    ],
    "": ["Something new happened", ""],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in MESSAGES.items() for text in texts]
)
def test_cause(name: str, text: str) -> None:
    assert cause_of(text).name == name


def test_every_cause_is_in_the_table() -> None:
    assert {cause.name for cause in CAUSES} | {UNKNOWN.name} == set(MESSAGES)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_next_steps_are_whole_sentences_that_fit(cause: object) -> None:
    longest = "n" * 63
    described = {**DESCRIBED, "ClusterName": longest}
    text = next(iter(MESSAGES[getattr(cause, "name", "")]))
    step = ReportedFailure(text=text, group=longest, instance="i-0123456789abcdef0").next_step(
        described
    )
    assert step.endswith(".")
    assert len(step.encode()) <= 300, "ProvisioningError would cut it"
    assert "{" not in step


def message(text: str, **statuses: str) -> dict[str, Any]:
    """Return what DescribeCluster says of a cluster whose groups have these statuses."""
    groups = [{"InstanceGroupName": name, "Status": is_} for name, is_ in statuses.items()]
    return {"FailureMessage": text, "InstanceGroups": groups}


FAILURES: dict[str, tuple[dict[str, Any], list[ReportedFailure]]] = {
    "script": ({}, [ReportedFailure(text=SCRIPT, group="workers", instance="i-1")]),
    "without a cause": ({}, []),
    "of the cluster, with its group": (message("No capacity", a="Failed", b="Creating"), []),
    "of the cluster, of all groups": (message("No capacity", a="Failed", b="Failed"), []),
    "of the cluster, with its instance": (message("Instance i-0123456789abcdef0: KMS"), []),
    "of the cluster, with its log stream": (
        message(f"{SCRIPT} See log stream 'LifecycleConfig/b/i-0123456789abcdef0'", a="Failed"),
        [],
    ),
    "of the cluster, with a cause that a node reports": (
        message("Cluster creation failed."),
        [ReportedFailure(text="InsufficientInstanceCapacity", group="a")],
    ),
    "of the cluster, and of a group, which is closer to the cause": (
        message("We do not have sufficient capacity.", workers="Failed", others="Failed"),
        [ReportedFailure(text=SCRIPT, group="workers")],
    ),
}


def test_what_is_told_of_a_failure(snapshot: SnapshotAssertion) -> None:
    assert {
        case: str(failure({**DESCRIBED, **changes}, reported))
        for case, (changes, reported) in FAILURES.items()
    } == snapshot


def test_each_group_and_cause_is_told_once() -> None:
    capacity = "InsufficientInstanceCapacity"
    reported = [
        ReportedFailure(text=f"{capacity} now", group="a", instance="i-1"),
        ReportedFailure(text=f"{capacity} before", group="a", instance="i-2"),
        ReportedFailure(text=capacity, group="b"),
        ReportedFailure(text="Deep health checks did not pass", group="a", instance="i-3"),
    ]
    text = str(failure(DESCRIBED, reported))
    assert text.count(capacity) == 2
    assert "instance i-2" not in text
    assert "instance i-3: deep health check" in text


def test_many_long_causes_fit_a_response() -> None:
    reported = [
        ReportedFailure(text=SCRIPT * 9, group=f"{'g' * 60}{n}", instance="i-1") for n in range(9)
    ]
    groups = [
        {"InstanceGroupName": f"{'g' * 60}{n}", "CurrentCount": 0, "TargetCount": 6758}
        for n in range(100)
    ]
    text = str(failure({**DESCRIBED, "InstanceGroups": groups}, reported))
    assert len(text.encode()) <= MESSAGE_LIMIT_BYTES
    assert "Read log stream" in text


REFUSALS = [
    "ResourceLimitExceeded: the service limit is 0",
    "Could not assume role x",
    # There is no node yet whose log could be read.
    "Instance group a: lifecycle script s3://b/k does not exist",
    "NewRule: no",
]


def test_refusal_of_the_service(snapshot: SnapshotAssertion) -> None:
    refused = [refused_by_service("ml-cluster", "create", RuntimeError(text)) for text in REFUSALS]
    assert [*map(str, refused)] == snapshot


@pytest.mark.parametrize(
    ("shape", "statuses"),
    [
        ("ClusterStatus", ClusterStatus),
        ("InstanceGroupStatus", GroupStatus),
        ("SoftwareUpdateStatus", SoftwareUpdateStatus),
    ],
)
def test_statuses_are_in_botocores_model(shape: str, statuses: type[StrEnum]) -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    assert set(statuses) <= set(model.shape_for(shape).metadata["enum"])


def slurm_group(name: str, node_type: str, *, status: str = "Creating") -> dict[str, object]:
    return {
        "InstanceGroupName": name,
        "SlurmConfig": {"NodeType": node_type},
        "Status": status,
        "TargetCount": 1,
        "CurrentCount": 0,
    }


def test_a_controllers_failure_is_told_first_and_its_next_step_is_taken(
    snapshot: SnapshotAssertion,
) -> None:
    """The other groups wait for it, and what they report follows from that."""
    workers = [
        ReportedFailure(text=f"{text} {number}", group=f"workers-{number}", instance="i-1")
        for number in range(3)
        for text in ("No sufficient capacity", "quota")
    ]
    groups = [slurm_group("workers-0", "Compute"), slurm_group("head", "Controller")]
    controller = ReportedFailure(text="Something new happened", group="head", instance="i-0")
    described = {**DESCRIBED, "InstanceGroups": groups}
    assert str(failure(described, [*workers, controller])) == snapshot


def test_a_message_without_a_group_is_the_failed_controllers(snapshot: SnapshotAssertion) -> None:
    groups = [
        slurm_group("workers", "Compute", status="Failed"),
        slurm_group("head", "Controller", status="Failed"),
    ]
    described = {**DESCRIBED, "InstanceGroups": groups, "FailureMessage": SCRIPT}
    assert str(failure(described, [])) == snapshot

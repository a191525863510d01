"""Clusters that Slurm orchestrates: what is refused, the controller first, drift, and its nodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from hyperpod_emulator.hyperpod import Faults, NodeView, Scripts
from hyperpod_emulator.testing.hyperpod_api import (
    CHECKS,
    CONTINUOUS,
    EKS_CLUSTER,
    LIFECYCLE,
    NAME,
    TAINTS,
    TIMINGS,
    KnownSubnets,
    Subject,
    create_request,
    ids,
    subject,
)
from hyperpod_emulator.testing.slurm_requests import (
    ACCOUNTING,
    LUSTRE,
    OPENZFS,
    compute,
    controller,
    login,
    slurm,
)

TOPOLOGY = [compute(), login(), controller()]
BOTH = {**LIFECYCLE, "OnCreate": "a.sh", "OnInitComplete": "b.sh"}
GOOD: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    (TOPOLOGY, slurm()),
    (TOPOLOGY, slurm(SlurmConfigStrategy="Overwrite") | {"VpcConfig": None}),
    (TOPOLOGY, slurm(**ACCOUNTING) | CONTINUOUS),
    ([controller(), compute(InstanceStorageConfigs=[LUSTRE, OPENZFS])], slurm()),
    ([controller(), compute(LifeCycleConfig={**LIFECYCLE, "OnInitComplete": "b.sh"})], slurm()),
    ([controller(), compute(OnStartDeepHealthChecks=CHECKS), compute("more")], slurm()),
]


@pytest.mark.parametrize(("groups", "members"), GOOD)
def test_accepts(groups: list[dict[str, Any]], members: dict[str, Any]) -> None:
    assert "ClusterArn" in subject().create(*groups, **members)


TWICE = [LUSTRE, LUSTRE]
BAD: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([compute()], slurm(), "exactly one InstanceGroup with Controller"),
    ([controller(), controller("b")], slurm(), "2 Controller Groups found"),
    ([controller(count=2)], slurm(), "InstanceCount of the Controller node type must be 1"),
    ([controller(), login(), login("b")], slurm(), "2 Login Groups found"),
    ([controller(), compute(SlurmConfig=None)], slurm(), "SlurmConfig must be specified"),
    (
        [controller(), compute(SlurmConfig={"NodeType": "Compute"})],
        slurm(),
        "PartitionNames must be specified",
    ),
    (
        [controller(), login(SlurmConfig={"NodeType": "Login", "PartitionNames": ["a"]})],
        slurm(),
        "Partitions can only be assigned to Compute node types",
    ),
    ([controller(SlurmConfig={"NodeType": "Worker"})], slurm(), "enum value set"),
    (
        [compute(SlurmConfig={"NodeType": "Compute", "PartitionNames": ["a", "b"]})],
        slurm(),
        "length less than or equal to 1",
    ),
    ([controller(InstanceStorageConfigs=TWICE)], slurm(), "at most one FsxLustreConfig"),
    (
        [controller(InstanceStorageConfigs=[OPENZFS])],
        {**slurm(), "VpcConfig": None},
        "only supported for Custom VPC",
    ),
    (TOPOLOGY, slurm(**ACCOUNTING), "AccountingDatabase is supported only with"),
    (
        TOPOLOGY,
        slurm(SlurmConfigStrategy="Managed") | CONTINUOUS,
        "SlurmConfigStrategy is not supported with NodeProvisioningMode Continuous",
    ),
    ([controller(), compute(KubernetesConfig=TAINTS)], slurm(), "only with the Amazon EKS"),
    ([controller(), compute(LifeCycleConfig=BOTH)], slurm(), "exactly one of OnCreate"),
    (
        [compute(SlurmConfig=None, LifeCycleConfig={**LIFECYCLE, "OnInitComplete": "b.sh"})],
        {},
        "OnInitComplete is supported only with the Slurm orchestrator",
    ),
]


@pytest.mark.parametrize(("groups", "members", "sentence"), BAD)
def test_refuses(groups: list[dict[str, Any]], members: dict[str, Any], sentence: str) -> None:
    error = subject().refused("CreateCluster", **create_request(*groups, **members))

    assert (error.code, sentence in error.message) == ("ValidationException", True), error


BAD_UPDATES: list[tuple[dict[str, Any], str]] = [
    ({"Orchestrator": {"Eks": {"ClusterArn": EKS_CLUSTER}}}, "cannot be changed"),
    (
        {"InstanceGroups": [login("workers", InstanceType="ml.g5.12xlarge")]},
        "NodeType cannot be changed",
    ),
    ({"InstanceGroups": [controller("b")]}, "2 Controller Groups found"),
    ({"InstanceGroups": [login("b")]}, "2 Login Groups found"),
    ({"InstanceGroupsToDelete": ["controller"]}, "exactly one InstanceGroup with Controller"),
    ({"InstanceGroups": [controller(count=0)]}, "must be 1"),
    (slurm(**ACCOUNTING), "only with NodeProvisioningMode Continuous"),
]


@pytest.mark.parametrize(("members", "sentence"), BAD_UPDATES)
def test_update_is_refused(members: dict[str, Any], sentence: str) -> None:
    api = _running()
    before = _described(api)

    error = api.refused("UpdateCluster", ClusterName=NAME, **members)

    assert (error.code, sentence in error.message) == ("ValidationException", True), error
    assert _described(api) == before


def _running(**members: Any) -> Subject:
    api = subject(timings=TIMINGS)
    api.create(*TOPOLOGY, **(slurm() | members))
    api.wait()
    return api


def _described(api: Subject) -> dict[str, Any]:
    return api("DescribeCluster", ClusterName=NAME)


def test_partitions_and_the_database_change_and_the_rest_stays() -> None:
    api = _running(**slurm(**ACCOUNTING), **CONTINUOUS)
    unnamed = compute(count=3)
    del unnamed["SlurmConfig"]
    api(
        "UpdateCluster",
        ClusterName=NAME,
        InstanceGroups=[unnamed, compute("cpu", 1, partition="cpu")],
        InstanceGroupsToDelete=["login"],
        Orchestrator={"Slurm": {}},
    )
    api.wait()

    found = _described(api)
    assert found["Orchestrator"] == slurm(**ACCOUNTING)["Orchestrator"]
    assert [group["SlurmConfig"] for group in found["InstanceGroups"]] == [
        {"NodeType": "Compute", "PartitionNames": ["gpu"]},
        {"NodeType": "Controller"},
        {"NodeType": "Compute", "PartitionNames": ["cpu"]},
    ]
    assert api.counts() == {"workers": (3, 3), "controller": (1, 1), "cpu": (1, 1)}


@pytest.mark.parametrize("mode", [{}, CONTINUOUS])
def test_others_wait_for_the_controller(mode: dict[str, Any]) -> None:
    api = subject(timings=TIMINGS)
    api.create(*TOPOLOGY, **slurm(), **mode)
    one = TIMINGS.node_launch + TIMINGS.lifecycle_script
    seen = []
    for seconds in (TIMINGS.create, TIMINGS.node_launch, TIMINGS.lifecycle_script, one):
        api.wait(seconds)
        seen.append((api.status(), len(api.nodes()), api.counts()["controller"][0]))

    assert seen == [
        ("Creating", 0, 0),
        ("Creating", 1, 0),
        ("Creating", 1, 1),
        ("InService", 4, 1),
    ]


def test_workers_are_not_waited_for() -> None:
    api = subject(timings=TIMINGS, faults=Faults(capacity_shortage=frozenset({"workers"})))
    api.create(*TOPOLOGY, **slurm(), **CONTINUOUS)
    api.wait()

    assert (api.status(), api.counts()["workers"]) == ("InService", (0, 2))


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (Faults(capacity_shortage=frozenset({"controller"})), "sufficient capacity"),
        (Faults(lifecycle_script_failure=frozenset({"controller"})), "Lifecycle scripts did not"),
    ],
)
@pytest.mark.parametrize("mode", [{}, CONTINUOUS])
def test_a_failed_controller_takes_the_rest_with_it(
    faults: Faults, words: str, mode: dict[str, Any]
) -> None:
    api = subject(timings=TIMINGS, faults=faults)
    api.create(*TOPOLOGY, **slurm(), **mode)
    api.wait()

    found = _described(api)
    assert (found["ClusterStatus"], words in found["FailureMessage"]) == ("Failed", True)
    assert {group["Status"] for group in found["InstanceGroups"]} == {"Failed"}
    assert api.nodes() == []
    errors = [event for event in api.events() if event["EventLevel"] == "Error"] if mode else []
    told = [event["InstanceGroupName"] for event in reversed(errors)]
    assert told == (["controller", "controller", "workers", "login"] if mode else [])


STRATEGIES = [("Managed", False, True), ("Merge", True, True), ("Overwrite", True, False)]


@pytest.mark.parametrize(("strategy", "goes_through", "stays_edited"), STRATEGIES)
def test_edited_slurm_conf(strategy: str, *, goes_through: bool, stays_edited: bool) -> None:
    api = _running()
    api.service.edit_slurm_conf(cluster=NAME)
    api("UpdateCluster", ClusterName=NAME, **slurm(SlurmConfigStrategy=strategy))
    api.wait()
    drifted = "drift detected" in _described(api).get("FailureMessage", "")
    assert (api.status(), drifted) == ("InService", not goes_through)

    managed = slurm(SlurmConfigStrategy="Managed")
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[compute(count=3)], **managed)
    api.wait(TIMINGS.update)
    assert api.status() == ("RollingBack" if stays_edited else "Updating")
    api.wait()
    assert api.counts()["workers"] == ((2, 2) if stays_edited else (3, 3))


def test_continuous_provisioning_merges_what_was_edited() -> None:
    api = _running(**CONTINUOUS)
    api.service.edit_slurm_conf(cluster=NAME)
    api("UpdateCluster", ClusterName=NAME, InstanceGroups=[compute(count=3)])
    api.wait()

    assert (api.counts()["workers"], "FailureMessage" in _described(api)) == ((3, 3), False)


OPERATIONS = [
    ("BatchReplaceClusterNodes", "ErrorCode", "InvalidInstanceStatus"),
    ("BatchDeleteClusterNodes", "Code", "InvalidNodeStatus"),
]


@pytest.mark.parametrize(("operation", "member", "code"), OPERATIONS)
def test_the_controller_is_neither_replaced_nor_deleted(
    operation: str, member: str, code: str
) -> None:
    api = _running()
    [head], worker = ids(api, "controller"), ids(api, "workers")[0]
    answer = api(operation, ClusterName=NAME, NodeIds=[head, worker])

    assert answer["Successful"] == [worker]
    assert [(each["NodeId"], each[member]) for each in answer["Failed"]] == [(head, code)]
    assert api("BatchRebootClusterNodes", ClusterName=NAME, NodeIds=[head])["Successful"] == [head]


def test_only_workers_have_deep_health_checks() -> None:
    faults = Faults(deep_health_check_failure=frozenset({"controller"}))
    api = subject(faults=faults)
    checked = controller(InstanceType="ml.g5.xlarge", OnStartDeepHealthChecks=CHECKS)
    api.create(checked, compute(OnStartDeepHealthChecks=CHECKS), **slurm())
    api.wait()

    assert api.status() == "InService"


def test_nodes_are_described() -> None:
    api = subject()
    api.create(controller(), compute(InstanceStorageConfigs=[LUSTRE, OPENZFS]), **slurm())
    api.wait()
    details = api("DescribeClusterNode", ClusterName=NAME, NodeId=ids(api, "workers")[0])

    assert details["NodeDetails"]["InstanceStorageConfigs"] == [LUSTRE, OPENZFS]
    assert "LifeCycleConfig" not in details["NodeDetails"]


class Seen(Scripts):
    """Remembers the nodes whose scripts run."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeView] = {}

    def script_runs(self, node: NodeView, *, fails: bool) -> None:
        assert not fails
        self.nodes[node.instance_group] = node


def test_nodes_find_who_they_and_the_others_are() -> None:
    seen = Seen()
    api = subject(scripts=seen)
    mounted = login(InstanceStorageConfigs=[LUSTRE, OPENZFS])
    api.create(controller(), mounted, compute(count=1, partition="cpu"), **slurm())
    api.wait()
    api.status()

    login_node = seen.nodes["login"]
    read = {path: json.loads(text) for path, text in login_node.files.items()}
    groups = read["/opt/ml/config/resource_config.json"]["InstanceGroups"]
    assert {
        group["Name"]: [each["CustomerIpAddress"] for each in group["Instances"]]
        for group in groups
    } == {name: [node.private_ip] for name, node in seen.nodes.items()}
    assert read["/opt/ml/config/provisioning_parameters.json"]["worker_groups"] == [
        {"instance_group_name": "workers", "partition_name": "cpu"}
    ]
    assert (login_node.mounts, seen.nodes["controller"].mounts) == (("/fsx", "/home"), ())


class Network(KnownSubnets):
    """Lets nodes reach nothing."""

    def reaches_s3(self, **_: object) -> bool:
        return False

    def mounts(self, *, storage: Sequence[object], **_: object) -> bool:
        return not storage


LATER = {"LifeCycleConfig": {**LIFECYCLE, "OnInitComplete": "on_init_complete.sh"}}


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({}, "InService"),
        (LATER, "Failed"),
        ({"InstanceStorageConfigs": [LUSTRE]}, "Failed"),
    ],
)
def test_what_a_node_must_reach(members: dict[str, Any], status: str) -> None:
    api = subject(network=Network())
    api.create(controller(**members), **slurm())
    api.wait()

    assert api.status() == status

"""What is verified of nodes, and the wait for it."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError
from kubernetes.client import CoreV1Api
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cdk.facts import mig
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.nodes import miscounted
from hyperpod_cli.inspect.verification.subjects.eks.devices import devices
from hyperpod_cli.inspect.verification.subjects.eks.gpu_partitions import gpu_partitions
from hyperpod_cli.inspect.verification.subjects.eks.health import health
from hyperpod_cli.inspect.verification.subjects.eks.readiness import readiness
from hyperpod_cli.inspect.verification.verify import (
    check_until_all_hold,
    not_looked_at,
    not_readable,
    summary,
    verify,
)
from hyperpod_cli.terminal.errors import OpsError, TransientError
from hyperpod_emulator.hardware import node_capacity
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import daemon_set
from tests.cli.inspect.verification.conftest import Deployed, join, report
from tests.support.configs import configure, orchestrated_by

PLUGINS = (
    "x-nvidia-device-plugin",
    "neuron-device-plugin-daemonset",
    "x-aws-efa-k8s-device-plugin",
)


def group(instance_type: str, **keys: Any) -> dict[str, Any]:
    return {"name": "nodes", "instance_type": instance_type, "instance_count": 2, **keys}


def cluster(instance_type: str, **keys: Any) -> dict[str, Any]:
    return {"cluster": {"name": "ml", "instance_groups": [group(instance_type)], **keys}}


@pytest.mark.parametrize(
    ("labels", "holds"),
    [
        (["Schedulable"] * 2, True),
        (["Schedulable"], False),
        (["Schedulable"] * 3, False),
        (["Schedulable", "Unschedulable"], False),
        (["UnschedulablePendingReplacement"] * 5, False),
    ],
    ids=["whole", "fewer", "more", "one unschedulable", "all in replacement"],
)
def test_health(
    deployed: Deployed,
    kubernetes: KubernetesApi,
    snapshot: SnapshotAssertion,
    labels: list[str],
    holds: bool,
) -> None:
    for index, label in enumerate(labels):
        join(kubernetes, f"n{index}", node_health_status=label)
    (check,) = health(deployed(configure(cluster("ml.m5.xlarge"))))
    assert check.ok is holds
    assert check.found == snapshot


def test_autoscaling_adds_nodes(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    for index in range(3):
        join(kubernetes, f"n{index}")
    fixed = deployed(configure(cluster("ml.m5.xlarge")))
    scaled = deployed(configure(cluster("ml.m5.xlarge", auto_scaling="Karpenter")))

    assert [check.found for check in readiness(fixed)] == ["3 of 2"]
    assert [check.ok for check in readiness(scaled)] == [True]


def test_other_nodes_do_not_count(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    # Of a managed node group of the same EKS cluster, and of another HyperPod cluster.
    kubernetes.put_node("managed", instance_type="m5.xlarge")
    join(kubernetes, "other", cluster="other", node_health_status="Schedulable")
    for index in range(2):
        join(kubernetes, f"n{index}", node_health_status="Schedulable")
    looked = deployed(configure(cluster("ml.m5.xlarge")))
    checks = [*health(looked), *readiness(looked)]
    assert [check.found for check in checks] == ["", ""]
    selector = "-l sagemaker.amazonaws.com/cluster-name=ml"
    assert all(selector in check.title for check in checks)


@pytest.mark.parametrize(
    ("count", "told"), [(1, "1 of 2 to 8"), (2, ""), (3, ""), (8, ""), (9, "9 of 2 to 8")]
)
def test_a_group_is_complete_with_its_least_nodes(count: int, told: str) -> None:
    groups = [group("ml.m5.xlarge") | {"instance_count": 8, "min_instance_count": 2}]
    asked = {"name": "ml", "node_provisioning_mode": "Continuous", "instance_groups": groups}
    config = configure({"cluster": asked})
    assert (miscounted(["nodes"] * count, config=config) or "") == told


JOINED = {
    "all": ["a"] * 8 + ["b"] * 2,
    "one has more than its least, which makes up for nothing in another": ["a"] * 8,
    "one of another group": ["a"] * 2 + ["b"] * 2 + ["c"],
    "with a node that lacks the label, the sum is enough": ["a"] * 2 + ["b", ""],
    "with a node that lacks the label, the sum is too little": ["a"] * 2 + [""],
}


def test_each_group_has_its_nodes(snapshot: SnapshotAssertion) -> None:
    groups = [
        group("ml.m5.xlarge") | {"name": "a", "instance_count": 8, "min_instance_count": 2},
        group("ml.m5.xlarge") | {"name": "b"},
    ]
    asked = {"name": "ml", "node_provisioning_mode": "Continuous", "instance_groups": groups}
    config = configure({"cluster": asked})
    assert {case: miscounted(nodes, config=config) for case, nodes in JOINED.items()} == snapshot


def test_nodes_are_listed_once(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    join(kubernetes, "n0")
    looked = deployed(configure(cluster("ml.g5.xlarge")))
    subjects = {"health": health, "readiness": readiness, "devices": devices}
    first = [*verify(looked, subjects=subjects)]
    kubernetes.remove_node("n0")
    assert [*verify(looked, subjects=subjects)] == first


def test_a_node_that_is_not_ready(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    for index in range(2):
        join(kubernetes, f"n{index}")
    looked = deployed(configure(cluster("ml.m5.xlarge")))
    CoreV1Api(looked.kubernetes).patch_node_status(
        "n1",
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
        _content_type="application/merge-patch+json",
    )
    assert [check.found for check in readiness(looked)] == ["1 of 2; not n1"]


@pytest.mark.parametrize(
    ("instance_type", "columns"),
    [
        ("ml.m5.xlarge", []),
        ("ml.g5.xlarge", ["GPU"]),
        ("ml.p5.48xlarge", ["GPU", "EFA"]),
        ("ml.trn1.32xlarge", ["NEURON", "EFA"]),
    ],
)
def test_each_type_offers_what_it_has(
    deployed: Deployed,
    kubernetes: KubernetesApi,
    snapshot: SnapshotAssertion,
    instance_type: str,
    columns: list[str],
) -> None:
    def found() -> list[Check]:
        return [*devices(deployed(configure(cluster(instance_type))))]

    assert report(found()) == snapshot
    join(kubernetes, "n0", instance_type, capacity=node_capacity(instance_facts(instance_type)))
    assert [check.title.partition("name,")[2].partition(":")[0] for check in found()] == columns
    assert {check.found.partition(" of ")[0] for check in found()} <= {"n0 offers none"}
    for plugin in PLUGINS:
        kubernetes.create(daemon_set(plugin))
    assert [check.ok for check in found()] == [True] * len(columns)


def test_a_gpu_that_has_failed_is_missed(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    capacity = {**node_capacity(instance_facts("ml.p5.48xlarge")), "nvidia.com/gpu": "7"}
    join(kubernetes, "n0", "ml.p5.48xlarge", capacity=capacity)
    for plugin in PLUGINS:
        kubernetes.create(daemon_set(plugin))

    gpu, efa = devices(deployed(configure(cluster("ml.p5.48xlarge"))))
    assert (gpu.found, efa.ok) == ("n0 offers 7 of 8", True)
    assert "replace the node" in gpu.advice


def test_a_plugin_of_ones_own_is_not_judged(deployed: Deployed) -> None:
    off = {"components": {"nvidia_device_plugin": False}}
    assert not [*devices(deployed(configure({**cluster("ml.g5.xlarge"), "helm": off})))]


class Looks:
    """A deployment of three checks, of which one more holds at each look."""

    def __init__(self) -> None:
        self.count = 0
        self.time = 0.0
        self.said: list[str] = []

    def verify(self) -> list[Check]:
        self.count += 1
        return [Check(title=f"c{index}", ok=index < self.count) for index in range(3)]

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def held(self, *, seconds: float) -> bool:
        return all(check.ok for check in self.checks(self.verify, seconds=seconds))

    def checks(self, verify: Callable[[], list[Check]], *, seconds: float) -> list[Check]:
        return check_until_all_hold(
            verify,
            seconds=seconds,
            say=self.said.append,
            now=lambda: self.time,
            sleep=self.sleep,
        )


def test_once() -> None:
    looks = Looks()
    assert (looks.held(seconds=0), looks.count, looks.said) == (False, 1, [])


def test_until_all_holds(snapshot: SnapshotAssertion) -> None:
    looks = Looks()
    assert (looks.held(seconds=600), looks.count, looks.time) == (True, 3, 30.0)
    assert looks.said == snapshot


def test_until_the_deadline() -> None:
    looks = Looks()
    assert (looks.held(seconds=20), looks.count, looks.time) == (True, 3, 20.0)
    looks = Looks()
    assert (looks.held(seconds=10), looks.count, looks.time) == (False, 2, 10.0)


def test_a_line_that_takes_long_to_write_makes_no_pause_negative() -> None:
    looks = Looks()
    pauses: list[float] = []

    def say(_line: str) -> None:
        looks.time += 20.0

    check_until_all_hold(
        looks.verify, seconds=15, say=say, now=lambda: looks.time, sleep=pauses.append
    )
    assert pauses
    assert min(pauses) > 0


def test_not_for_what_cannot_be_looked_at() -> None:
    looks = Looks()
    unknown = not_looked_at("health", why="Kubernetes API: 401 Unauthorized; ask")
    assert looks.checks(lambda: [unknown], seconds=600) == [unknown]
    assert (looks.time, looks.said) == (0.0, [])


BUSY = ClientError({"Error": {"Code": "ServiceUnavailable", "Message": "busy"}}, "DescribeStacks")


@pytest.mark.parametrize(
    "error",
    [
        BUSY,
        ReadTimeoutError(endpoint_url="https://eks.us-west-2.amazonaws.com/"),
        TransientError("Kubernetes API: 503"),
    ],
)
def test_what_passes_is_looked_at_again(error: Exception) -> None:
    looks = Looks()
    errors = [error]

    def verify() -> list[Check]:
        if errors:
            raise errors.pop()
        return looks.verify()

    checks = looks.checks(verify, seconds=600)
    assert all(check.ok for check in checks)
    assert len(looks.said) == 3
    assert looks.said[0].startswith(("AWS: ", "Kubernetes API: 503"))


@pytest.mark.parametrize(
    ("error", "looked"),
    [
        # It lasts until the deadline.
        (BUSY, 3),
        (NoCredentialsError(), 1),
        (OpsError("stack: is not deployed"), 1),
    ],
)
def test_what_stays_is_raised(error: Exception, looked: int) -> None:
    looks = Looks()

    def verify() -> list[Check]:
        looks.count += 1
        raise error

    with pytest.raises(type(error)):
        looks.checks(verify, seconds=20)
    assert looks.count == looked


def test_a_part_that_cannot_be_looked_at_now_is_looked_at_again() -> None:
    looks = Looks()
    busy = not_looked_at("health", why="Kubernetes API: 503", is_transient=True)
    found = [[Check(title="a", ok=True), busy], [Check(title="a", ok=True)]]
    checks = looks.checks(lambda: found.pop(0), seconds=600)
    assert (len(checks), len(looks.said)) == (1, 1)


def test_what_is_not_known_is_told_apart_from_what_fails(snapshot: SnapshotAssertion) -> None:
    unknown = not_looked_at("health", why="Kubernetes API: 401; list your role")
    failing = Check(title="b", ok=False, found="is not there", advice="Run it")
    checks = [Check(title="a", ok=True), failing, unknown]
    assert report(checks) == snapshot
    assert [summary(few) for few in (*(checks[:n] for n in (1, 2, 3)), [unknown])] == snapshot


_A100 = "ml.p4d.24xlarge"


@pytest.mark.parametrize(
    ("layout", "offered"),
    [
        ("all-1g.5gb", {"1g.5gb": "56"}),
        ("mixed-3-1g.5gb-1-4g.20gb", {"1g.5gb": "24", "4g.20gb": "8"}),
        ("all-3g.20gb", {}),
    ],
)
def test_each_node_offers_its_partitions(
    deployed: Deployed,
    kubernetes: KubernetesApi,
    snapshot: SnapshotAssertion,
    layout: str,
    offered: dict[str, str],
) -> None:
    group = {"name": "nodes", "instance_type": _A100, "instance_count": 1, "mig_profile": layout}
    config = configure(
        {
            "helm": {"components": {"gpu_operator": True}},
            "cluster": {"name": "ml", "instance_groups": [group]},
        }
    )

    missing = report(gpu_partitions(deployed(config)))
    capacity = {f"nvidia.com/mig-{profile}": count for profile, count in offered.items()}
    join(kubernetes, "n0", _A100, capacity=capacity or {"nvidia.com/gpu": "8"})
    [check] = gpu_partitions(deployed(config))
    assert check.ok is bool(offered)
    assert [missing, report([check])] == snapshot


def test_layouts_are_made_of_what_the_gpu_has() -> None:
    for instance_type in mig.types_with_layouts():
        for layout in mig.layouts(instance_type):
            for profile, count in mig.partitioned(instance_type, layout).items():
                assert 1 <= count <= mig.partitions(instance_type)[profile]


def test_what_no_reading_shows_is_told() -> None:
    line = not_readable(configure({}), options=["my file.yaml"])

    assert line is not None
    assert line.startswith("Not known: whether pods on the nodes of HyperPod reach")
    assert "hyperpod-cdk validate-nodes 'my file.yaml' --check node" in line
    without_pods = map(load_config, orchestrated_by("slurm"))
    assert {not_readable(each, options=[]) for each in without_pods} == {None}

"""What HyperPod does with nodes that a user, or the chart node-health, marks by a label."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hyperpod_emulator.hyperpod import Caller, HyperPodService
from hyperpod_emulator.testing.hyperpod_api import create_request, group
from hyperpod_emulator.testing.kubernetes_api import Cluster, running_cluster
from hyperpod_rehearsal.environment import KubernetesNodes

HEALTH = "sagemaker.amazonaws.com/node-health-status"


@dataclass(slots=True)
class Site:
    """A HyperPod cluster of two nodes, and the Kubernetes API that they join."""

    cluster: Cluster
    time: float = 0.0
    service: HyperPodService = field(init=False)

    def __post_init__(self) -> None:
        nodes = KubernetesNodes(self.cluster.api)
        namespace = {"name": KubernetesNodes.NAMESPACE}
        self.cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace})
        self.service = HyperPodService(clock=lambda: self.time, observer=nodes)

    def create(self, **members: str) -> None:
        self.service.call("CreateCluster", create_request(group(count=2), **members), Caller())
        self.wait()

    def wait(self, seconds: int = 60) -> None:
        for _ in range(seconds):
            self.time += 1
            self.service.advance()

    def mark(self, name: str, health: str) -> None:
        self.cluster.kubectl("label", "node", name, f"{HEALTH}={health}", "--overwrite")

    def boots(self) -> dict[str, str]:
        listed = self.cluster.api.objects("v1", "Node")
        return {item["metadata"]["name"]: item["status"]["nodeInfo"]["bootID"] for item in listed}

    def nodes(self) -> dict[str, str]:
        listed = self.cluster.api.objects("v1", "Node")
        return {item["metadata"]["name"]: item["metadata"]["labels"][HEALTH] for item in listed}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running_cluster(tmp_path) as cluster:
        yield Site(cluster)


def test_a_node_that_is_marked_for_replacement_is_replaced(site: Site) -> None:
    site.create()
    first, second = site.nodes()
    site.mark(first, "UnschedulablePendingReplacement")
    site.wait()
    after = site.nodes()
    assert (first in after, second in after, len(after)) == (False, True, 2)
    assert set(after.values()) == {"Schedulable"}


def test_a_node_that_is_marked_for_a_reboot_comes_back(site: Site) -> None:
    site.create()
    before, booted = site.nodes(), site.boots()
    name = next(iter(before))
    site.mark(name, "UnschedulablePendingReboot")
    assert site.nodes() != before
    site.service.advance()
    listed = site.cluster.kubectl("get", "nodes")
    assert {line.split()[0] for line in listed.splitlines() if "NotReady" in line} == {name}
    site.wait()
    assert site.nodes() == before
    assert "NotReady" not in site.cluster.kubectl("get", "nodes")
    after = site.boots()
    assert {each for each in after if after[each] != booted[each]} == {name}


def test_without_recovery_it_stays_as_it_is(site: Site) -> None:
    site.create(NodeRecovery="None")
    first, second = site.nodes()
    site.mark(first, "UnschedulablePendingReplacement")
    site.wait()
    assert site.nodes() == {first: "UnschedulablePendingReplacement", second: "Schedulable"}

"""A cluster that the tests of a worker share."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.hyperpod.orchestrator import Slurm, cluster_request
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_emulator.hyperpod.slurm.configuration import SlurmNode
from tests.slurm.cluster import SlurmCluster
from tests.support.configs import FIREWALL, SUBNET, configured

_HERE = Path(__file__).parent
_NOT_YET, _NEVER = 1, 2
_INSTALLED = subprocess.run(["sh", _HERE / "install.sh", "--check"], check=False).returncode
Group = tuple[str, str, int, Mapping[str, str]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of this folder on a machine that cannot have a Slurm."""
    if _INSTALLED == _NEVER:
        left_out = [item for item in items if _HERE in item.path.parents]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def slurm_is_installed() -> None:
    """Fail rather than skip what could be installed."""
    if _INSTALLED == _NOT_YET:
        pytest.fail("Slurm is not installed: run `make setup-slurm`", pytrace=False)


def cluster_of(*groups: Group) -> ClusterConfig:
    """Return a cluster with a controller and some groups: name, type, count and `slurm`."""
    controller = ("controller", "ml.m5.xlarge", 1, {"node_type": "controller"})
    keys = ("name", "instance_type", "instance_count", "slurm")
    listed = [dict(zip(keys, group, strict=True)) for group in (controller, *groups)]
    return configured({"cluster": {"orchestrator": "slurm", "instance_groups": listed}}).cluster


def request_of(cluster: ClusterConfig, **slurm: Any) -> dict[str, Any]:
    """Return the CreateCluster request for a cluster.

    Args:
        cluster: The section of a configuration.
        slurm: Further members of Slurm's part of it.
    """
    orchestrator = Slurm().to_request(cluster)
    return cluster_request(
        cluster,
        orchestrator={"Slurm": orchestrator["Slurm"] | slurm},
        security_group_id=FIREWALL,
        subnet_id=SUBNET,
        tags={},
    )


def nodes_of(request: Mapping[str, Any]) -> Sequence[SlurmNode]:
    """Return the nodes that HyperPod makes of a request."""
    return [
        SlurmNode(
            group=group["InstanceGroupName"],
            instance_id=f"i-{subnet:08x}{index:09x}",
            address=f"10.1.{subnet}.{index}",
            instance_type=group["InstanceType"],
        )
        for subnet, group in enumerate(request["InstanceGroups"])
        for index in range(1, group["InstanceCount"] + 1)
    ]


@pytest.fixture(scope="session")
def slurm_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """Return a cluster that runs: a login node, two nodes with GPUs, two without; accounting."""
    cluster_config = cluster_of(
        ("login", "ml.m5.xlarge", 1, {"node_type": "login"}),
        ("gpus", "ml.g5.12xlarge", 2, {"node_type": "compute", "partition": "gpu"}),
        ("cpus", "ml.c5.4xlarge", 2, {"node_type": "compute", "partition": "cpu"}),
    )
    database = {"Endpoint": "accounting.example.com", "SecretArn": "arn:aws:secretsmanager:x"}
    request = request_of(cluster_config, AccountingDatabase=database)
    cluster = SlurmCluster(
        tmp_path_factory.mktemp("slurm"),
        request=request,
        nodes=nodes_of(request),
        hardware=instance_facts,
    )
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()

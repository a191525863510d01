"""A cluster that the tests of a worker share."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from emulator.hyperpod.slurm.configuration import SlurmNode
from hyperpod_cdk.facts.instance_types import instance_facts
from tests.slurm.cluster import SlurmCluster

_HERE = Path(__file__).parent
_NOT_YET, _NEVER = 1, 2
_INSTALLED = subprocess.run(["sh", _HERE / "install.sh", "--check"], check=False).returncode
Group = tuple[str, str, str, int, str | None]


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


def request_of(*groups: Group, database: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a CreateCluster request: of each group its name, role, type, count and partition."""
    slurm: dict[str, Any] = {"SlurmConfigStrategy": "Managed"}
    return {
        "ClusterName": "ml",
        "Orchestrator": {
            "Slurm": slurm | ({"AccountingDatabase": database} if database is not None else {})
        },
        "InstanceGroups": [
            {
                "InstanceGroupName": name,
                "InstanceType": instance_type,
                "InstanceCount": count,
                "SlurmConfig": {"NodeType": role}
                | ({"PartitionNames": [partition]} if partition is not None else {}),
            }
            for name, role, instance_type, count, partition in groups
        ],
    }


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
    request = request_of(
        ("controller", "Controller", "ml.m5.xlarge", 1, None),
        ("login", "Login", "ml.m5.xlarge", 1, None),
        ("gpus", "Compute", "ml.g5.12xlarge", 2, "gpu"),
        ("cpus", "Compute", "ml.c5.4xlarge", 2, "cpu"),
        database={"Endpoint": "accounting.example.com", "SecretArn": "arn:aws:secretsmanager:x"},
    )
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

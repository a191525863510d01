"""A cluster that the tests of a worker share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from emulator.hyperpod.slurm.configuration import SlurmNode
from hyperpod_cdk.facts.instance_types import instance_facts
from tests.slurm.cluster import SlurmCluster

Group = tuple[str, str, str, int, str | None]


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

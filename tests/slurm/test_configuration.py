"""slurmctld takes the configuration that HyperPod's AMI makes of a request."""

import re
from pathlib import Path

import pytest

from hyperpod_cdk.facts.instance_types import instance_facts
from tests.slurm.cluster import SlurmCluster
from tests.slurm.conftest import Group, nodes_of, request_of

pytestmark = pytest.mark.slow(seconds=12)

CONTROLLER: Group = ("controller", "Controller", "ml.m5.xlarge", 1, None)
LOGIN: Group = ("login", "Login", "ml.m5.xlarge", 1, None)
EMPTY: Group = ("later", "Compute", "ml.g5.12xlarge", 0, "later")


@pytest.mark.parametrize(
    ("groups", "partitions", "resources"),
    [
        pytest.param(
            [CONTROLLER, ("a", "Compute", "ml.g5.xlarge", 1, "dev")],
            {"dev": 1},
            "CPUTot=4 Gres=gpu:1 RealMemory=16384",
            id="in dev alone, with one GPU",
        ),
        pytest.param(
            [
                CONTROLLER,
                ("a", "Compute", "ml.g5.12xlarge", 2, "gpu"),
                ("b", "Compute", "ml.g5.12xlarge", 1, "gpu"),
                ("c", "Compute", "ml.c5.4xlarge", 3, "cpu"),
                EMPTY,
                LOGIN,
            ],
            {"dev": 7, "gpu": 3, "cpu": 3, "later": 0},
            "CPUTot=48 Gres=gpu:4 RealMemory=196608",
            id="several groups and partitions, and a login node in dev",
        ),
        pytest.param(
            [
                ("my-controller-group", "Controller", "ml.m5.xlarge", 1, None),
                ("worker-group-1", "Compute", "ml.trn1.32xlarge", 4, "trainium"),
            ],
            {"dev": 4, "trainium": 4},
            "CPUTot=128 Gres=(null) RealMemory=524288",
            id="sagemaker-demo-cluster",
        ),
        pytest.param(
            [
                ("head-nodes", "Controller", "ml.m5.2xlarge", 1, None),
                ("worker-nodes", "Compute", "ml.p5.48xlarge", 32, "p5"),
            ],
            {"dev": 32, "p5": 32},
            "CPUTot=192 Gres=gpu:8 RealMemory=2097152",
            id="llm-training-cluster",
        ),
    ],
)
def test_nodes_are_in_their_partition_and_in_dev(
    tmp_path: Path, groups: list[Group], partitions: dict[str, int], resources: str
) -> None:
    request = request_of(*groups)
    nodes = nodes_of(request)
    cluster = SlurmCluster(tmp_path, request=request, nodes=nodes, hardware=instance_facts)
    try:
        cluster.start(slurmds=[])
        listed = cluster.run("scontrol", "show", "partition", "--oneliner")
        found = re.findall(r"PartitionName=(\S+).* TotalNodes=(\d+)", listed)
        assert {name: int(count) for name, count in found} == partitions
        assert re.findall(r"PartitionName=(\S+).* Default=YES", listed) == ["dev"]
        first = next(node for node in nodes if node.group == groups[1][0])
        shown = cluster.run("scontrol", "show", "node", first.name, "--oneliner")
        assert {*resources.split()} <= {*shown.split()}
    finally:
        cluster.stop()

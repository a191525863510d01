"""slurmctld takes the configuration that HyperPod's AMI makes of a request."""

import re
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.hyperpod.section import ClusterConfig
from tests.slurm.cluster import SlurmCluster
from tests.slurm.conftest import cluster_of, nodes_of, request_of
from tests.support.configs import CONFIG_FOLDER, orchestrated_by

pytestmark = pytest.mark.slow(seconds=6)

GPUS = {"node_type": "compute", "partition": "gpu"}
NONE_YET = {"node_type": "compute", "partition": "later"}


def loaded(directory: Path, config: ClusterConfig) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Return what slurmctld has loaded: nodes of each partition, and what it says of each node."""
    request = request_of(config)
    nodes = nodes_of(request)
    cluster = SlurmCluster(directory, request=request, nodes=nodes, hardware=instance_facts)
    try:
        cluster.start(slurmds=[])
        partitions = cluster.run("scontrol", "show", "partition", "--oneliner")
        shown = cluster.run("scontrol", "show", "node", "--oneliner").splitlines()
    finally:
        cluster.stop()
    assert re.findall(r"PartitionName=(\S+).* Default=YES", partitions) == ["dev"]
    counts = re.findall(r"PartitionName=(\S+).* TotalNodes=(\d+)", partitions)
    lines = {line.split()[0].removeprefix("NodeName="): {*line.split()} for line in shown}
    assert lines.keys() == {node.name for node in nodes if node.group != nodes[0].group}
    return {name: int(count) for name, count in counts}, lines


@pytest.mark.parametrize("path", orchestrated_by("slurm"), ids=lambda path: path.stem)
def test_each_configuration_is_taken(tmp_path: Path, path: Path) -> None:
    partitions, nodes = loaded(tmp_path, load_config(path).cluster)
    assert partitions["dev"] == len(nodes)


@pytest.mark.parametrize(
    ("config", "partitions", "last"),
    [
        pytest.param(
            cluster_of(("a", "ml.g5.xlarge", 1, GPUS | {"partition": "dev"})),
            {"dev": 1},
            "Gres=gpu:1 CPUTot=4 RealMemory=16384 Partitions=dev",
            id="one partition, which is dev",
        ),
        pytest.param(
            cluster_of(
                ("a", "ml.g5.12xlarge", 2, GPUS),
                ("b", "ml.g6.12xlarge", 1, GPUS),
                ("later", "ml.p5.48xlarge", 0, NONE_YET),
                ("login", "ml.m5.xlarge", 1, {"node_type": "login"}),
            ),
            {"dev": 4, "gpu": 3, "later": 0},
            "Gres=(null) Partitions=dev",
            id="two groups in a partition, one without nodes, a login node",
        ),
        pytest.param(
            load_config(CONFIG_FOLDER / "slurm.yaml").cluster,
            {"dev": 2, "gpu": 1, "cpu": 1},
            "Gres=(null) CPUTot=4 RealMemory=32768 Partitions=dev,cpu",
            id="one thread per core",
        ),
        pytest.param(
            load_config(CONFIG_FOLDER / "examples" / "slurm-p5.yaml").cluster,
            {"dev": 32, "p5": 32},
            "Gres=gpu:8 CPUTot=192 RealMemory=2097152 Partitions=dev,p5",
            id="256 GPUs",
        ),
        pytest.param(
            load_config(CONFIG_FOLDER / "examples" / "slurm-trn1.yaml").cluster,
            {"dev": 4, "trn1": 4},
            "Gres=(null) CPUTot=128 RealMemory=524288 Partitions=dev,trn1",
            id="Trainium, which is no GPU",
        ),
    ],
)
def test_a_node_is_in_its_partition_and_in_dev(
    tmp_path: Path, config: ClusterConfig, partitions: dict[str, int], last: str
) -> None:
    found, nodes = loaded(tmp_path, config)
    assert found == partitions
    assert {*last.split()} <= nodes[[*nodes][-1]]

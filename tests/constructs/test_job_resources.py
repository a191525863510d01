"""What a pod may request of a node, against what nodes were seen to have."""

import pytest

from hyperpod_cdk.facts.instance_types import instance_facts, instance_types
from hyperpod_cdk.facts.job_resources import job_resources

GPU, NEURON = "nvidia.com/gpu", "aws.amazon.com/neuron"


@pytest.mark.parametrize(
    ("instance_type", "expected"),
    [
        ("ml.p4d.24xlarge", (GPU, 8, 4, 5120, 46, 1042)),
        ("ml.p5.48xlarge", (GPU, 8, 32, 5120, 94, 1850)),
        ("ml.g5.8xlarge", (GPU, 1, 1, 3522, 14, 108)),
        ("ml.g5.xlarge", (GPU, 1, 0, 0, 1, 12)),
        ("ml.trn1.32xlarge", (NEURON, 16, 8, 5120, 62, 443)),
        ("ml.m5.2xlarge", (None, 0, 0, 0, 2, 27)),
    ],
)
def test_requests(instance_type: str, expected: tuple[object, ...]) -> None:
    found = job_resources(instance_type)
    assert found is not None
    assert (
        found.accelerator,
        found.accelerators,
        found.efa,
        found.hugepages_2mi_mib,
        found.cpu,
        found.memory_gib,
    ) == expected


def test_every_described_type_leaves_the_node_its_share() -> None:
    described = 0
    for instance_type in instance_types():
        facts, found = instance_facts(instance_type), job_resources(instance_type)
        assert (facts is None) == (found is None)
        if facts is not None and found is not None:
            described += 1
            # With one thread per core, as a group may ask.
            assert 1 <= found.cpu <= max(1, facts.vcpus // facts.default_threads_per_core - 1)
            asked_mib = found.memory_gib * 1024 + found.hugepages_2mi_mib
            assert 1024 <= asked_mib < facts.memory_mib
    assert described > 100


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'ml\.none'"):
        job_resources("ml.none")

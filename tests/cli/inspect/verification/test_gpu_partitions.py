"""What is verified of the partitions of GPUs."""

import pytest

from emulator.kubernetes import KubernetesApi
from hyperpod_cdk.facts import mig
from hyperpod_cli.inspect.verification.subjects.eks.gpu_partitions import gpu_partitions
from tests.cli.inspect.verification.conftest import Deployed, join
from tests.support.configs import configure

_A100 = "ml.p4d.24xlarge"


CASES: tuple[tuple[str, dict[str, str], str | None], ...] = (
    ("all-1g.5gb", {"nvidia.com/mig-1g.5gb": "56"}, None),
    (
        "mixed-3-1g.5gb-1-4g.20gb",
        {"nvidia.com/mig-1g.5gb": "24", "nvidia.com/mig-4g.20gb": "8"},
        None,
    ),
    (
        "all-3g.20gb",
        {"nvidia.com/gpu": "8"},
        "n0 offers none of 16 nvidia.com/mig-3g.20gb (nvidia.com/mig.config.state=None)",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_each_node_offers_its_partitions(
    deployed: Deployed, kubernetes: KubernetesApi, case: tuple[str, dict[str, str], str | None]
) -> None:
    layout, offered, told = case
    group = {"name": "nodes", "instance_type": _A100, "instance_count": 1, "mig_profile": layout}
    config = configure(
        {
            "helm": {"components": {"gpu_operator": True}},
            "cluster": {"name": "ml", "instance_groups": [group]},
        }
    )

    [missing] = gpu_partitions(deployed(config))
    assert missing.found == "no node of the group is there"
    join(kubernetes, "n0", _A100, capacity=offered)
    [check] = gpu_partitions(deployed(config))
    assert (check.ok, check.found) == (told is None, told or check.found)
    assert ("kubectl drain" in check.advice) is (told is not None)


def test_layouts_are_made_of_what_the_gpu_has() -> None:
    for instance_type in mig.types_with_layouts():
        for layout in mig.layouts(instance_type):
            for profile, count in mig.partitioned(instance_type, layout).items():
                assert 1 <= count <= mig.partitions(instance_type)[profile]

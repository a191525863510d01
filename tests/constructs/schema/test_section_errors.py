"""Who makes a section in Python reads the lines that a YAML file gets."""

from typing import Any

import pytest

from hyperpod_cdk import (
    ClusterConfig,
    ComponentsConfig,
    Config,
    ConfigError,
    EksConfig,
    HelmConfig,
    HyperPodSubnetConfig,
    InstanceGroupConfig,
    NetworkConfig,
    StorageConfig,
    TaintConfig,
)
from hyperpod_cdk.schema.errors import key_path
from hyperpod_cdk.schema.section import Section
from tests.conftest import Raises
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.refusals import lines_for, without_names

GROUP: dict[str, Any] = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
IN_GROUPS = ("cluster", "instance_groups")

# What each section refuses is in its own tables; here, each way to a line: a value, a key that is
# not there, one that is missing, keys that contradict each other or a default, and sections within
# lists.
CASES: list[tuple[type[Section], tuple[str | int, ...], dict[str, Any], int]] = [
    (
        InstanceGroupConfig,
        (*IN_GROUPS, 0),
        {"name": "-", "instance_type": "ml.x5.large", "instance_count": -1},
        3,
    ),
    (InstanceGroupConfig, (*IN_GROUPS, 0), {"name": "g", "instance_typ": "x"}, 3),
    (InstanceGroupConfig, (*IN_GROUPS, 0), {**GROUP, "min_instance_count": 2}, 1),
    (
        InstanceGroupConfig,
        (*IN_GROUPS, 0),
        {**GROUP, "taints": [{"key": "-a", "effect": "NoExec"}], "lifecycle": {"on_create": "x"}},
        3,
    ),
    (
        ClusterConfig,
        ("cluster",),
        {
            "name": "a_b",
            "node_recovery": "automatic",
            "wait_minutes": 56,
            "instance_groups": [GROUP, GROUP],
        },
        4,
    ),
    (
        NetworkConfig,
        ("network",),
        {"vpc_cidr": "10.20.0.0/16", "public_subnet_cidrs": ["10.20.0.1/24", "x"]},
        4,
    ),
    (HyperPodSubnetConfig, ("network", "hyperpod_subnets", 0), {"cidr": "10.1.0.0/29"}, 1),
    (EksConfig, ("eks",), {"version": 1.34, "admins": ["Admin"], "endpoint_access": "privat"}, 3),
    (StorageConfig, ("storage",), {"capacity_gib": 1000, "delete_with_stack": True}, 1),
    (HelmConfig, ("helm",), {"release": "A", "wait_for_ready_minutes": 46, "values": {1: 2}}, 3),
    (ComponentsConfig, ("helm", "components"), {"mpi_operater": True, "mlflow": 1}, 2),
    (Config, (), {"name": "ML", "region": "us-west2", "tags": {"aws:a": "b"}}, 4),
]


def document_with(values: dict[str, Any], place: tuple[str | int, ...]) -> dict[str, Any]:
    """Return a document that is refused for nothing but the values at a place."""
    if not place:
        return values
    inner: Any = values
    for step in reversed(place):
        inner = [inner] if isinstance(step, int) else {step: inner}
    if "network" in place:
        inner["network"] = {"availability_zone_ids": None, **inner["network"]}
    if place == ("network",):
        inner["network"]["hyperpod_subnets"] = [{"cidr": "10.1.0.0/16"}]
    return merged(MINIMUM, inner)


@pytest.mark.parametrize(("section", "place", "values", "count"), CASES)
def test_lines_are_those_of_the_file(
    section: type[Section], place: tuple[str | int, ...], values: dict[str, Any], count: int
) -> None:
    with pytest.raises(ConfigError) as caught:
        section(**values)

    lines = caught.value.lines
    prefix = f"{key_path(place)}." if place else ""
    expected = [
        f"{section.__name__}.{line.removeprefix(prefix).replace(' (the default)', '', 1)}"
        for line in lines_for(document_with(values, place))
        if line.startswith(prefix)
    ]
    assert [without_names(line) for line in lines] == expected
    assert len(lines) == count
    assert str(caught.value) == "\n".join(lines)
    assert all(line.isprintable() for line in lines)


def test_words_of_a_library_users_lines(raises: Raises) -> None:
    with raises(ConfigError) as caught:
        InstanceGroupConfig(name="-", instance_type="ml.x5.large", instance_count=-1)

    assert str(caught.value).count("\n") == 2


def test_sections_that_contradict_each_other_are_refused_where_they_meet(raises: Raises) -> None:
    group = InstanceGroupConfig(name="g", instance_type="ml.m5.large", instance_count=1)

    with raises(ConfigError):
        ClusterConfig(name="ml", instance_groups=(group, group))


def test_a_list_does_for_a_tuple_and_a_mapping_for_a_section() -> None:
    values = {**GROUP, "taints": [{"key": "a", "effect": "NoExecute"}]}

    made = InstanceGroupConfig(**values)

    assert made.taints == (TaintConfig(key="a", effect="NoExecute"),)


def test_a_key_of_a_section_below_is_said_to_be_there(raises: Raises) -> None:
    class Orchestrator(Section):
        slurm: bool = False

    class Cluster(Section):
        orchestrator: Orchestrator = Orchestrator()

    with raises(ConfigError):
        Cluster(slurm=True)  # type: ignore[call-arg]

"""What a deployment does to nodes of EKS node groups, and what EKS refuses, from real templates."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.effects.effect import StackState
from hyperpod_cdk.node_groups.effects import effects, refusals
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.yaml_file import parsed_yaml
from hyperpod_cli.stack_progress import fixed_values
from tests.conftest import Assemble, Configure

Group = dict[str, Any]
BLOCK = {
    "instance_types": ["p5.48xlarge"],
    "capacity": "CapacityBlock",
    "capacity_reservation_id": "cr-0123456789abcdef0",
}
GROUP_ARN = "arn:aws:resource-groups:us-west-2:111122223333:group/reservations"
REPLACING: list[Group] = [
    {"detailed_monitoring": True},
    {"http_put_response_hop_limit": 2},
    {"placement_group": True},
    {"raid0": False},
    {"release_version": "1.35.2-20251112"},
    {"capacity_reservation_id": "cr-0123456789abcdef0"},
    {"capacity_reservation_resource_group_arn": GROUP_ARN},
]
# With the autoscaler, the size of the volume stays.
VOLUME: Group = {"volume_size_gib": 200}
ALONE: list[Group] = [
    {"desired_size": 2},
    {"max_size": 7},
    {"min_size": 1},
    {"labels": {"team": "a"}},
    {"taints": [{"key": "team", "effect": "NoExecute"}]},
    {"node_repair": False},
    {"max_unavailable": 2},
    {"update_strategy": "MINIMAL"},
    *REPLACING,
]
FIXED = (False, False)


class Deployments:
    """Templates of node groups."""

    def __init__(self, configure: Configure, assemble: Assemble) -> None:
        self._configure, self._assemble = configure, assemble

    def compared(
        self,
        former: list[Group],
        wanted: list[Group],
        *,
        tags: Mapping[str, str] | None = None,
        is_scaled: tuple[bool, bool] = (True, True),
        sizes: Mapping[str, int] | None = None,
    ) -> tuple[list[str], list[str]]:
        """Return what is said of nodes, with how many of a group end, and the refusals."""
        before, after = (
            {**_document(each), "operators": {"cluster_autoscaler": scaled}}
            for each, scaled in zip((former, wanted), is_scaled, strict=True)
        )
        document = {**after, "tags": tags or {}}
        had, has = (
            StackState(template=self._assemble(self._configure(each)).templates()["ml-node-groups"])
            for each in (before, document)
        )
        described = {
            name: {"clusterName": "ml-eks", "scalingConfig": {"desiredSize": size}}
            for name, size in (sizes or {}).items()
        }
        file = parsed_yaml(yaml.safe_dump(document), path=Path("ml.yaml"))
        return (
            [
                f"{each.text} ({each.group}: {each.ends})"
                if each.ends and each.rule != "group.nodes-replaced"
                else each.text
                for each in effects(had, has)
            ],
            [
                file.line(each).partition(": ")[2]
                for each in refusals(replace(had, node_groups=described), has)
            ],
        )


def _document(groups: list[Group]) -> dict[str, Any]:
    listed = [
        {
            "name": f"n{i}",
            "instance_types": ["i3en.2xlarge"],
            "desired_size": 1,
            "max_size": 4,
            "availability_zone_id": "usw2-az2",
        }
        | each
        for i, each in enumerate(groups)
    ]
    return {
        "cluster": None,
        "node_groups": listed,
    }


@pytest.fixture
def deployments(configure: Configure, assemble: Assemble) -> Deployments:
    return Deployments(configure, assemble)


@pytest.mark.parametrize(
    ("alone", "replacing", "is_scaled"),
    [
        (ALONE, REPLACING, (True, True)),
        ([VOLUME, *ALONE], [VOLUME, *REPLACING], FIXED),
    ],
)
def test_each_key_alone_is_taken_and_taken_out_again(
    deployments: Deployments,
    alone: list[Group],
    replacing: list[Group],
    is_scaled: tuple[bool, bool],
) -> None:
    none: list[Group] = [{} for _ in alone]
    replaced = [(f"n{i}", key) for i, each in enumerate(alone) if each in replacing for key in each]
    for former, wanted in ((none, alone), (alone, none)):
        told, refused = deployments.compared(former, wanted, is_scaled=is_scaled)
        assert refused == []
        lines = [each.split() for each in told if " replaced, " in each]
        assert [(each[2].rstrip(":"), each[-1]) for each in lines] == replaced
        assert "rolled back" in told[-1]


def test_each_key_of_a_group_is_tried_above_or_stays_as_it_is(
    configure: Configure, assemble: Assemble
) -> None:
    config = configure(_document([{"instance_types": ["p4d.24xlarge"]}]))
    template = assemble(config).templates()["ml-node-groups"]
    others = dict.fromkeys(template["Parameters"], "another")
    staying = {
        each.key.rpartition(".")[2] for each in fixed_values.changes(template, parameters=others)
    }
    tried = {key for each in (VOLUME, *ALONE) for key in each}
    assert {"name", *tried, *staying} == {*ManagedNodeGroupConfig.model_fields}
    assert tried.isdisjoint(staying)


def test_tags_alone_are_taken_and_replace_nodes_outside_of_capacity_blocks(
    deployments: Deployments, snapshot: SnapshotAssertion
) -> None:
    replaced, refused = deployments.compared([{}, BLOCK], [{}, BLOCK], tags={"team": "b"})
    assert refused == []
    assert replaced == snapshot


def test_what_eks_takes_one_after_the_other_is_refused_by_both_keys(
    deployments: Deployments, snapshot: SnapshotAssertion
) -> None:
    groups = [
        {"detailed_monitoring": True, "labels": {"team": "a"}},
        {"release_version": "1.35.2-20251112", "desired_size": 2},
    ]
    _, refused = deployments.compared([{}, {}], groups)
    assert refused == snapshot


def test_a_capacity_block_with_nodes_keeps_its_launch_template(
    deployments: Deployments, snapshot: SnapshotAssertion
) -> None:
    """EKS knows its size; where it does not say, the template does, unless that looks it up."""
    by_size: dict[str, list[str]] = {}
    for is_scaled, stated, there in product((FIXED, (True, True)), (0, 1), (None, 0, 3)):
        former = {**BLOCK, "desired_size": stated}
        _, refused = deployments.compared(
            [former],
            [{**former, "detailed_monitoring": True}],
            is_scaled=is_scaled,
            sizes={} if there is None else {"n0": there},
        )
        known = stated if is_scaled == FIXED else 0
        nodes = known if there is None else there
        assert len(refused) == (1 if nodes else 0)
        # The way out is the file, where it says how many, and a command where it does not.
        case = f"{nodes} nodes, {known} in the template"
        assert by_size.setdefault(case, refused) == refused
    assert by_size == snapshot


TWO, NONE = {"desired_size": 2}, {"desired_size": 0}
SIZES: dict[str, tuple[list[Group], list[Group], tuple[bool, bool]]] = {
    "same": ([TWO], [TWO], FIXED),
    "more": ([{}], [{"desired_size": 3}], FIXED),
    "none": ([TWO], [NONE], FIXED),
    "removed": ([{}, TWO], [{}], FIXED),
    "removed, of no node": ([{}, NONE], [{}], FIXED),
    "new": ([{}], [{}, TWO], FIXED),
    "new, of a capacity block": ([{}], [{}, BLOCK], FIXED),
    # The Cluster Autoscaler decides.
    "scaled": ([TWO], [NONE], (True, True)),
    "scaled from now on": ([TWO], [NONE], (False, True)),
    "scaled until now": ([TWO], [NONE], (True, False)),
    "scaled, to a smaller maximum": ([{}], [{"max_size": 2}], (True, True)),
    "scaled, and removed": ([{}, {}], [{}], (True, True)),
}


def test_other_sizes_are_told(deployments: Deployments, snapshot: SnapshotAssertion) -> None:
    assert {
        case: deployments.compared(former, wanted, is_scaled=is_scaled)[0]
        for case, (former, wanted, is_scaled) in SIZES.items()
    } == snapshot

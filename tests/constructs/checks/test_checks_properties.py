"""Whatever the groups are, the checks answer in lines."""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hyperpod_cdk import Config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.facts.instance_types import instance_facts, instance_types, is_accelerated
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.schema.errors import key_path
from tests.support.rule_cases import (
    BY_NAME,
    CHECKS,
    PLAN,
    TWO_ZONES,
    config,
    group,
    own_subnets,
    subnets,
)

types = st.sampled_from(instance_types())
MOST_INSTANCES = 6758
# A region, its subnets, and the zones that a group may name.
PLACES: list[tuple[str | None, dict[str, Any], list[str]]] = [
    ("us-west-2", {}, ["usw2-az1"]),
    (None, TWO_ZONES, ["usw2-az1", "usw2-az2"]),
    ("us-west-2", subnets("10.1.0.0/28"), ["usw2-az1"]),
    ("us-gov-west-1", BY_NAME, []),
    ("eu-central-2", BY_NAME, []),
]
keys = st.sampled_from(["a", "kubernetes.io/a", "sagemaker.amazonaws.com/a", "b/" + "c" * 64])
effects = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
volumes = st.sampled_from(
    [{"volume_size_gib": 100}, {"root_volume": True, "kms_key_id": "1234abcd"}]
)
of_any_kind: dict[str, st.SearchStrategy[Any]] = {
    "instance_count": st.integers(0, MOST_INSTANCES),
    "threads_per_core": st.sampled_from([None, 1, 2]),
    "deep_health_checks": st.sampled_from([[], CHECKS]),
    "override_vpc": st.sampled_from([None, own_subnets(1), own_subnets(2)]),
    "training_plan_arn": st.booleans(),
    "volume_size_gib": st.none(),
    "ebs_volumes": st.lists(volumes, max_size=2, unique_by=lambda volume: "root_volume" in volume),
}
groups = st.lists(
    st.fixed_dictionaries(
        {
            **of_any_kind,
            "types": st.lists(types, min_size=1, max_size=3, unique=True),
            "availability_zone_id": st.sampled_from([None, "usw2-az1", "usw2-az2"]),
            "min_instance_count": st.sampled_from([None, 0]),
            "capacity": st.sampled_from([None, "OnDemand", "Spot"]),
            "image_id": st.sampled_from([None, "default", "ami-0123456789abcdef0"]),
            "labels": st.dictionaries(keys, st.just("v"), max_size=2),
            "taints": st.lists(
                st.fixed_dictionaries({"key": keys, "effect": effects}),
                max_size=2,
                unique_by=lambda taint: (taint["key"], taint["effect"]),
            ),
            "network_interface_type": st.sampled_from([None, "efa", "efa-only"]),
        }
    ),
    min_size=1,
    max_size=4,
)
restricted_groups = st.lists(
    st.fixed_dictionaries({**of_any_kind, "instance_type": types}), max_size=2
)


def numbered(
    drawn: list[dict[str, Any]], *, zones: list[str], first: int = 0
) -> list[dict[str, Any]]:
    """Return the groups with names, and without what a section refuses in such a place."""
    named = []
    for index, changes in enumerate(drawn, start=first):
        made = group(index=index, **changes)
        several = made.pop("types", [made["instance_type"]])
        if len(several) > 1:
            made |= {"instance_type": None, "instance_types": several}
        else:
            made["instance_type"] = several[0]
        if not all(is_accelerated(name) for name in several):
            made["deep_health_checks"] = []
        made["training_plan_arn"] = PLAN if made["training_plan_arn"] and zones else None
        if made["override_vpc"] is not None or made.get("availability_zone_id") not in zones:
            made.pop("availability_zone_id", None)
        named.append(made)
    return named


@settings(max_examples=200, deadline=None)
@given(
    ordinary=groups,
    restricted=restricted_groups,
    place=st.sampled_from(PLACES),
    of_cluster=st.fixed_dictionaries(
        {
            "node_provisioning_mode": st.sampled_from([None, "Continuous"]),
            "node_recovery": st.sampled_from(["Automatic", "None"]),
            "auto_scaling": st.sampled_from([None, "Karpenter"]),
        }
    ),
    storage=st.sampled_from([{}, None]),
)
def test_findings_read_as_lines(
    ordinary: list[dict[str, Any]],
    restricted: list[dict[str, Any]],
    place: tuple[str | None, dict[str, Any], list[str]],
    of_cluster: dict[str, Any],
    storage: dict[str, Any] | None,
) -> None:
    region, network, zones = place
    drawn = config(
        *numbered(ordinary, zones=zones),
        restricted=numbered(restricted, zones=zones, first=len(ordinary)),
        of_cluster=of_cluster,
        region=region,
        network=network,
        storage=storage,
    )

    for finding in findings(drawn):
        assert key_path(finding.path)
        assert finding.message.isprintable()
        assert finding.message[0].islower()
        assert finding.rule


@settings(max_examples=100, deadline=None)
@given(instance_type=types, prefix=st.integers(16, 28))
def test_as_many_nodes_fit_as_the_message_says(instance_type: str, prefix: int) -> None:
    facts = instance_facts(instance_type)
    if facts is None:
        return

    def deployment(count: int) -> Config:
        nodes = group(instance_type, instance_count=count)
        return config(nodes, network=subnets(f"10.1.0.0/{prefix}"))

    empty = deployment(0)
    subnet = subnet_for(empty.cluster.instance_groups[0], empty.network)
    assert subnet is not None
    assert subnet.free_addresses is not None
    fitting = subnet.free_addresses // facts.addresses_per_node
    assume(fitting < MOST_INSTANCES)
    assert not list(node_addresses(deployment(fitting)))
    assert list(node_addresses(deployment(fitting + 1)))

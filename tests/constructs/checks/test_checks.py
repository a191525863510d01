"""Every rule by its table, in whole configurations, and for any of them."""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import gettempdir
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk.assertions import Template
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from hyperpod_cdk import ClusterConfig, Config, ConfigError, EksConfig, NetworkConfig, load_config
from hyperpod_cdk.checks import ALL_RULES, findings
from hyperpod_cdk.checks.node_addresses import node_addresses
from hyperpod_cdk.config.daemon_sets import (
    ADD_ON_DAEMON_SETS,
    STORAGE_ADD_ON_DAEMON_SETS,
    daemon_sets,
)
from hyperpod_cdk.eks.checks import eks_findings
from hyperpod_cdk.facts.instance_types import instance_facts, instance_types, is_accelerated
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.hyperpod.checks import cluster_findings
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.network.checks import network_findings
from hyperpod_cdk.schema.errors import Finding, key_path
from hyperpod_cdk.schema.rules import Rule
from hyperpod_cdk.synthesis.refusals import report
from tests.conftest import Configure
from tests.constructs.checks import cases
from tests.support.configs import BY_NAME, REPOSITORY, configured
from tests.support.rule_cases import (
    CHECKS,
    PLAN,
    TWO_ZONES,
    Case,
    check,
    check_table,
    config,
    group,
    own_subnets,
    rows_of,
    subnets,
)

CASES: list[Case[Any]] = [
    case
    for module in iter_modules(cases.__path__)
    for case in rows_of(import_module(f"{cases.__name__}.{module.name}").CASES)
]
FINDINGS: dict[type[object], Callable[[Any], Iterator[Finding]]] = {
    NetworkConfig: network_findings,
    EksConfig: eks_findings,
    ClusterConfig: cluster_findings,
    Config: findings,
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule(case: Case[Any]) -> None:
    check(case)


def test_the_words_of_findings_are_as_reviewed(snapshot: SnapshotAssertion) -> None:
    folder = re.compile(rf"{re.escape(gettempdir())}/\w+|{re.escape(str(REPOSITORY))}")
    words = {
        str(case): [folder.sub("FOLDER", str(finding)) for finding in case.rule(case.subject)]
        for case in CASES
        if case.expected
    }

    assert words == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.__name__)
def test_rule_has_passing_and_failing_cases_and_a_source(rule: Rule[Any]) -> None:
    check_table(rule, cases=CASES)


def test_each_rule_is_found_once() -> None:
    names = [rule.__name__ for rule in ALL_RULES]

    assert len(names) == len(set(names)) > 30


@pytest.mark.parametrize("case", CASES, ids=str)
def test_findings_name_their_rule(case: Case[Any]) -> None:
    found = list(FINDINGS[type(case.subject)](case.subject))

    of_the_rule = [finding for finding in found if finding.rule == case.rule.__name__]
    assert len(of_the_rule) == len(case.expected)
    assert {finding.rule for finding in found} <= {rule.__name__ for rule in ALL_RULES}


ADMINS = ["arn:aws:iam::111122223333:role/Admin"]
GROUP = {"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 4}


def cluster(*changes: Mapping[str, Any]) -> dict[str, Any]:
    groups = [GROUP | {"name": f"g{n}"} | dict(change) for n, change in enumerate(changes)]
    return {"instance_groups": groups}


@pytest.mark.parametrize(
    "document",
    [
        {"network": {"hyperpod_subnets": [{"cidr": "10.1.0.0/24"}]}, "cluster": cluster({})},
        {
            "cluster": cluster(
                {"instance_type": "ml.g7.2xlarge", "threads_per_core": 2},
                {"instance_type": "ml.c6g.medium"},
            )
        },
    ],
    ids=["of the network", "of two groups"],
)
def test_errors_refuse_the_file(
    document: dict[str, Any], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"name": "ml"} | document))

    with pytest.raises(ConfigError) as caught:
        load_config(path)

    assert [line.removeprefix(f"{path}:") for line in caught.value.lines] == snapshot


def test_nothing_is_found_in_the_default_configuration(default_config: Config) -> None:
    assert [*findings(default_config)] == []


def warnings_of(stack: cdk.Stack) -> list[str]:
    return [str(each.data) for each in stack.node.metadata if each.type == "aws:cdk:warning"]


def test_warnings_are_annotations_of_the_stack(configure: Configure) -> None:
    stack = cdk.Stack(cdk.App(builtin_cloud_formation_validation=False), "Stack")

    report(stack, findings(configure({"eks": {"version": "1.30", "admins": ADMINS}})))

    (text,) = warnings_of(stack)
    assert text.startswith("eks.version: '1.30' ")
    assert text.endswith("[ack: hyperpod-cdk:kubernetes_version]")


def test_warning_can_be_acknowledged(configure: Configure) -> None:
    stack = cdk.Stack(cdk.App(builtin_cloud_formation_validation=False), "Stack")
    cdk.Annotations.of(stack).acknowledge_warning("hyperpod-cdk:kubernetes_version")

    report(stack, findings(configure({"eks": {"version": "1.30", "admins": ADMINS}})))

    assert warnings_of(stack) == []


def test_a_group_without_a_zone_is_in_the_first_subnet(configure: Configure) -> None:
    blocks = [{"cidr": f"10.{n}.0.0/16"} for n in (2, 3, 4)]
    network = {"availability_zone_ids": None, "hyperpod_subnets": blocks}

    config = configure({"network": network})

    subnet = subnet_for(config.cluster.instance_groups[0], config.network)
    assert subnet is not None
    assert subnet.path == ("network", "hyperpod_subnets", 0, "cidr")
    assert subnet.zone == "the region's zone 1 by name"
    assert subnet.availability_zone_id is None


def test_add_ons_with_daemon_sets_are_counted(
    synthesize: Callable[[Config], dict[str, Template]], default_config: Config
) -> None:
    add_ons = {
        resource["Properties"]["AddonName"]
        for template in synthesize(default_config).values()
        for resource in template.find_resources("AWS::EKS::Addon").values()
    }

    assert add_ons - {"coredns"} == {*ADD_ON_DAEMON_SETS, *STORAGE_ADD_ON_DAEMON_SETS}


@pytest.mark.parametrize("instance_type", ["ml.m5.4xlarge", "m5.4xlarge"])
@pytest.mark.parametrize(
    ("key", "name"),
    [(addon.key, name) for addon in OPERATOR_ADDONS for name in addon.daemon_sets],
)
def test_the_daemon_sets_of_operators_are_counted(key: str, name: str, instance_type: str) -> None:
    facts = instance_facts(instance_type)
    assert facts is not None
    with_it = configured({"operators": {key: True}})
    runs_there = key != "node_monitoring_agent" or not instance_type.startswith("ml.")

    assert (name in daemon_sets(facts, config=with_it)) == runs_there
    assert name not in daemon_sets(facts, config=configured({}))


def test_a_secret_is_not_shown() -> None:
    found = findings(configured({"helm": {"values": {"grafana": {"adminPassword": "hunter2"}}}}))

    (line,) = [str(finding) for finding in found if finding.rule == "secret_values"]

    assert line.startswith("helm.values.grafana.adminPassword: ")
    assert "hunter2" not in line


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

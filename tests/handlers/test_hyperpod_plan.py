"""``plan(old, new)``, as a table and as properties."""

from typing import Any

import pytest

from provisioner.hyperpod.described import fitted
from provisioner.hyperpod.plan import Plan, plan


def group(name: str, count: int = 1, **more: Any) -> dict[str, Any]:
    return {"InstanceGroupName": name, "InstanceCount": count, **more}


def cluster(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "ClusterName": "c",
        "InstanceGroups": list(groups),
        "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "NodeRecovery": "Automatic",
        **more,
    }


A, B = group("a"), group("b")
LABELS = {"Labels": {"team": "x"}}
OVERRIDE = {"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-2"]}


@pytest.mark.parametrize(
    ("case", "old", "new", "expected"),
    [
        ("nothing", cluster(A, B), cluster(A, B), Plan()),
        ("order of groups", cluster(A, B), cluster(B, A), Plan()),
        (
            "scale",
            cluster(A, B),
            cluster(A, group("b", 3)),
            Plan(update={"InstanceGroups": [group("b", 3)]}),
        ),
        (
            "scale to zero",
            cluster(A),
            cluster(group("a", 0)),
            Plan(update={"InstanceGroups": [group("a", 0)]}),
        ),
        ("add", cluster(A), cluster(A, B), Plan(update={"InstanceGroups": [B]})),
        ("remove", cluster(A, B), cluster(A), Plan(update={"InstanceGroupsToDelete": ["b"]})),
        (
            "rename",
            cluster(A, B),
            cluster(A, group("z")),
            Plan(update={"InstanceGroups": [group("z")], "InstanceGroupsToDelete": ["b"]}),
        ),
        (
            "labels, not the count",
            cluster(A),
            cluster(group("a", KubernetesConfig=LABELS)),
            Plan(
                update={"InstanceGroups": [group("a", KubernetesConfig=LABELS)]},
                kept_counts=frozenset({"a"}),
            ),
        ),
        (
            "flexible group gets another type",
            cluster(group("a", InstanceRequirements={"InstanceTypes": ["x", "y"]})),
            cluster(group("a", InstanceRequirements={"InstanceTypes": ["y", "x"]})),
            Plan(
                update={
                    "InstanceGroups": [
                        group("a", InstanceRequirements={"InstanceTypes": ["y", "x"]})
                    ]
                },
                kept_counts=frozenset({"a"}),
            ),
        ),
        (
            "restricted group",
            cluster(A, RestrictedInstanceGroups=[B]),
            cluster(A, RestrictedInstanceGroups=[group("b", 2)]),
            Plan(update={"RestrictedInstanceGroups": [group("b", 2)]}),
        ),
        (
            "order of subnets",
            cluster(A, VpcConfig={"Subnets": ["s-1", "s-2"]}),
            cluster(A, VpcConfig={"Subnets": ["s-2", "s-1"]}),
            Plan(),
        ),
        (
            "role left out with autoscaling",
            cluster(A, AutoScaling={"Mode": "Enable"}, ClusterRole="r"),
            cluster(A),
            Plan(update={"AutoScaling": {"Mode": "Disable"}}),
        ),
        (
            "node recovery",
            cluster(A),
            cluster(A, NodeRecovery="None"),
            Plan(update={"NodeRecovery": "None"}),
        ),
        (
            "autoscaling left out is switched off",
            cluster(A, AutoScaling={"Mode": "Enable"}),
            cluster(A),
            Plan(update={"AutoScaling": {"Mode": "Disable"}}),
        ),
        (
            "tags",
            cluster(A, Tags=[{"Key": "k", "Value": "1"}, {"Key": "gone", "Value": "1"}]),
            cluster(A, Tags=[{"Key": "k", "Value": "2"}, {"Key": "new", "Value": "3"}]),
            Plan(tags_to_add={"k": "2", "new": "3"}, tags_to_remove=("gone",)),
        ),
    ],
)
def test_changes(case: str, old: dict[str, Any], new: dict[str, Any], expected: Plan) -> None:
    assert plan(old, new) == expected, case
    assert plan(old, new).is_empty == (expected == Plan())


SCALED = cluster(A, AutoScaling={"Mode": "Enable"}, ClusterRole="role")
FLEXIBLE: dict[str, Any] = {"InstanceRequirements": {"InstanceTypes": ["ml.m5.large"]}}


@pytest.mark.parametrize(
    ("old", "new", "what", "group_name", "instead"),
    [
        (cluster(A), cluster(A, VpcConfig={"Subnets": ["x"]}), "VpcConfig", None, "destroy this"),
        (cluster(A), cluster(A, Orchestrator={"Eks": {}}), "Orchestrator", None, "destroy this"),
        (
            cluster(A),
            cluster(A, NodeProvisioningMode="Continuous"),
            "NodeProvisioningMode",
            None,
            "destroy this",
        ),
        (
            cluster(A),
            {**cluster(A), "NodeRecovery": None},
            "NodeRecovery",
            None,
            "Set it explicitly",
        ),
        (cluster(A), cluster(A, NewField=1), "NewField", None, "destroy this"),
        (SCALED, {**SCALED, "ClusterRole": "other"}, "ClusterRole", None, "Leave autoscaling out"),
        (
            cluster(A),
            cluster(group("a", OverrideVpcConfig=OVERRIDE)),
            "OverrideVpcConfig",
            "a",
            "another name",
        ),
        (
            cluster(group("a", InstanceType="ml.m5.large")),
            cluster(group("a", InstanceType="ml.m5.xlarge")),
            "InstanceType",
            "a",
            "another name",
        ),
        (cluster(A), cluster(group("a", **FLEXIBLE)), "InstanceRequirements", "a", "another name"),
        (
            cluster(A, B),
            cluster(A, RestrictedInstanceGroups=[B]),
            "RestrictedInstanceGroups",
            "b",
            "another name",
        ),
    ],
)
def test_immutable_changes_are_refused(
    old: dict[str, Any], new: dict[str, Any], what: str, group_name: str | None, instead: str
) -> None:
    (refused,) = plan(old, new).refusals
    assert (refused.what, refused.group) == (what, group_name)
    assert instead in refused.instead


def test_new_group_may_override_the_vpc() -> None:
    assert plan(cluster(A), cluster(A, group("b", OverrideVpcConfig=OVERRIDE))).refusals == ()


def test_going_back_to_what_the_cluster_still_is_asks_for_nothing_impossible() -> None:
    rejected = cluster(A, group("never-made"), VpcConfig={"Subnets": ["x"]})
    original = cluster(A)
    described = {**original, "InstanceGroups": [{**A, "CurrentCount": 1}]}
    assert fitted(plan(rejected, original), described) == Plan()


def test_a_refusal_that_is_really_one_stays() -> None:
    original, wanted = cluster(A), cluster(A, VpcConfig={"Subnets": ["x"]})
    assert len(fitted(plan(original, wanted), original).refusals) == 1


@pytest.mark.parametrize(
    ("case", "details", "sent"),
    [
        ("as in the template", {"TargetCount": 1}, 1),
        ("scaled outside", {"TargetCount": 7}, 7),
        ("scaled to nothing outside", {"TargetCount": 0}, 0),
    ],
)
def test_count_that_is_not_asked_to_change_is_the_clusters_own(
    case: str, details: dict[str, Any], sent: int
) -> None:
    labelled = cluster(group("a", KubernetesConfig=LABELS))
    described = {**cluster(), "InstanceGroups": [{"InstanceGroupName": "a", **details}]}
    (item,) = fitted(plan(cluster(A), labelled), described).update["InstanceGroups"]
    assert item["InstanceCount"] == sent, case


def test_kept_count_stays_within_the_least() -> None:
    old, new = group("a", 4, MinInstanceCount=2), group("a", 4, MinInstanceCount=3)
    described = {**cluster(), "InstanceGroups": [{"InstanceGroupName": "a", "TargetCount": 1}]}
    (item,) = fitted(plan(cluster(old), cluster(new)), described).update["InstanceGroups"]
    assert item["InstanceCount"] == 3


def test_count_that_is_asked_to_change_is_sent() -> None:
    described = {**cluster(), "InstanceGroups": [{"InstanceGroupName": "a", "TargetCount": 7}]}
    wanted = cluster(group("a", 2))
    assert fitted(plan(cluster(A), wanted), described).update == {"InstanceGroups": [group("a", 2)]}

"""``plan(old, new)``, as a table and as properties."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.hyperpod_plan import Plan, fitted, plan


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
            "group becomes restricted",
            cluster(A, B),
            cluster(A, RestrictedInstanceGroups=[B]),
            Plan(update={"RestrictedInstanceGroups": [B]}),
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


@pytest.mark.parametrize(
    ("new", "what", "group_name", "instead"),
    [
        (cluster(A, VpcConfig={"Subnets": ["x"]}), "VpcConfig", None, "another name"),
        (cluster(A, Orchestrator={"Eks": {}}), "Orchestrator", None, "another name"),
        (cluster(A, NodeProvisioningMode="Continuous"), "NodeProvisioningMode", None, "another"),
        ({**cluster(A), "NodeRecovery": None}, "NodeRecovery", None, "Set it explicitly"),
        (cluster(group("a", OverrideVpcConfig=OVERRIDE)), "OverrideVpcConfig", "a", "another name"),
    ],
)
def test_immutable_changes_are_refused(
    new: dict[str, Any], what: str, group_name: str | None, instead: str
) -> None:
    (refused,) = plan(cluster(A), new).refusals
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


groups = st.dictionaries(
    st.sampled_from("abcde"),
    st.builds(
        lambda count, threads: {"count": count, "ThreadsPerCore": threads},
        st.integers(0, 5),
        st.integers(1, 2),
    ),
    min_size=1,
)
tags = st.dictionaries(st.sampled_from("xyz"), st.sampled_from("123"))


def _request(made: dict[str, Any], tagged: dict[str, str], recovery: str) -> dict[str, Any]:
    return cluster(
        *(
            group(name, item["count"], ThreadsPerCore=item["ThreadsPerCore"])
            for name, item in made.items()
        ),
        NodeRecovery=recovery,
        Tags=[{"Key": key, "Value": value} for key, value in tagged.items()],
    )


requests = st.builds(_request, groups, tags, st.sampled_from(["Automatic", "None"]))


@given(old=requests, new=requests)
@settings(max_examples=150, deadline=None)
def test_applying_a_plan_yields_what_is_wanted(old: dict[str, Any], new: dict[str, Any]) -> None:
    changes = plan(old, new)
    made = {item["InstanceGroupName"]: item for item in old["InstanceGroups"]}
    made |= {item["InstanceGroupName"]: item for item in changes.update.get("InstanceGroups", ())}
    for name in changes.update.get("InstanceGroupsToDelete", ()):
        del made[name]
    assert made == {item["InstanceGroupName"]: item for item in new["InstanceGroups"]}
    tagged = {tag["Key"]: tag["Value"] for tag in old["Tags"]} | dict(changes.tags_to_add)
    for key in changes.tags_to_remove:
        del tagged[key]
    assert tagged == {tag["Key"]: tag["Value"] for tag in new["Tags"]}
    assert changes.update.get("NodeRecovery", old["NodeRecovery"]) == new["NodeRecovery"]
    assert plan(new, new).is_empty

"""What a change does to instance groups, and what of it AWS refuses."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.effects.effect import StackState
from hyperpod_cdk.hyperpod.effects import effects, refusals
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.yaml_file import parsed_yaml

ROLE = {"Fn::ImportValue": "ml-platform:RoleArn"}
RENAMED_ROLE = {"Fn::ImportValue": "ml-platform:NodeRoleArn"}
TYPE = "ml.m5.2xlarge"
Template = dict[str, Any]
Group = dict[str, Any]
Groups = list[Group]
Found = Mapping[str, Any] | None
Make = Callable[..., Template]


def group(name: str, count: int, **more: object) -> dict[str, Any]:
    more = {"InstanceType": TYPE} | more
    return {"InstanceGroupName": name, "InstanceCount": count, **more}


def custom(*groups: Mapping[str, Any], role: object = ROLE, **more: object) -> Template:
    """Return a template as the custom resource has it: the request is a text around references."""
    software = more.pop("software", "")
    request = {"ClusterName": "c", "InstanceGroups": list(groups), "ClusterRole": "@", **more}
    begin, _, end = json.dumps(request).partition("@")
    properties = {
        "Request": {"Fn::Join": ["", [begin, role, end]]},
        "SoftwareUpdate": software,
    }
    return {"Resources": {"C": {"Type": "Custom::HyperPodCluster", "Properties": properties}}}


def native(*groups: Mapping[str, Any], **more: object) -> Template:
    properties = {"ClusterName": "c", "InstanceGroups": list(groups), "ClusterRole": ROLE, **more}
    return {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}}


def described(**counts: int) -> dict[str, Any]:
    """Return what DescribeCluster says of groups with these numbers of nodes."""
    groups = [
        {"InstanceGroupName": name, "TargetCount": count, "InstanceType": TYPE}
        for name, count in counts.items()
    ]
    return {"ClusterName": "c", "InstanceGroups": groups}


def said(former: Template, wanted: Template, found: Found) -> list[str]:
    found_effects = effects(StackState(template=former, cluster=found), StackState(template=wanted))
    return [each.text for each in found_effects]


def refused(former: Template, wanted: Template, found: Found) -> list[Finding]:
    return [*refusals(StackState(template=former, cluster=found), StackState(template=wanted))]


A, B = group("a", 3), group("b", 1)


GROUPS: dict[str, tuple[Groups, Groups, Found]] = {
    "same": ([A], [A], described(a=3)),
    "fewer": ([A], [group("a", 1)], described(a=3)),
    "fewer, by the templates": ([A], [group("a", 1)], None),
    # Somebody has scaled it meanwhile: what is there counts.
    "scaled meanwhile": ([group("a", 5)], [group("a", 1)], described(a=3)),
    "more": ([A], [group("a", 4)], described(a=3)),
    "new": ([A], [A, B], described(a=3)),
    "removed": ([A, group("b", 2)], [A], described(a=3, b=2)),
    "removed, and gone already": ([A, B], [A], described(a=3)),
    "cluster is gone": ([A], [A, B], {}),
    "label and plan": (
        [A],
        [group("a", 3, KubernetesConfig={"Labels": {"x": "y"}}, TrainingPlanArn="p")],
        described(a=3),
    ),
    "image": ([group("a", 3, ImageId="ami-1")], [group("a", 3, ImageId="ami-2")], described(a=3)),
}


def test_what_becomes_of_groups_is_said_in_their_words(snapshot: SnapshotAssertion) -> None:
    by_custom, by_native = (
        {
            case: said(make(*former), make(*wanted), found)
            for case, (former, wanted, found) in GROUPS.items()
        }
        for make in (custom, native)
    )
    assert by_custom == by_native == snapshot


def test_a_number_that_does_not_change_stays_but_where_all_groups_are_sent(
    snapshot: SnapshotAssertion,
) -> None:
    found = described(a=5)
    assert len(said(custom(A), custom(A, B), found)) == 1
    assert said(native(A), native(A, B), found) == snapshot


@pytest.mark.parametrize(
    ("former", "wanted"),
    [
        ({}, custom(B)),
        (custom(A, NodeRecovery="Automatic"), custom(A, NodeRecovery="None")),
        (custom(A, software="1"), custom(A, software="2")),
        # A name that only AWS knows may change while the thing stays the same.
        (custom(A, role=ROLE), custom(A, role=RENAMED_ROLE)),
    ],
    ids=["new", "recovery", "software", "role"],
)
def test_what_becomes_of_the_cluster_is_said(
    former: Template, wanted: Template, snapshot: SnapshotAssertion
) -> None:
    assert said(former, wanted, described(a=3) if former else {}) == snapshot


ODD: list[Template] = [
    {"Resources": None},
    {"Resources": []},
    {"Resources": {"C": None}},
    {"Resources": {"C": {"Type": "Custom::HyperPodCluster"}}},
    *(
        {"Resources": {"C": {"Type": "Custom::HyperPodCluster", "Properties": properties}}}
        for properties in (
            {},
            {"Request": ""},
            {"Request": "[" * 20_000},
            {"Request": "[1]"},
            {"Request": {"Fn::Join": "x"}},
            {"Request": {"Ref": "Request"}},
            {"Request": '{"InstanceGroups": 3}'},
            {"Request": '{"InstanceGroups": [{"InstanceGroupName": "a"}]}'},
            {"Request": '{"InstanceGroups": [{"InstanceGroupName": 1, "InstanceCount": 1}]}'},
            {"Request": '{"InstanceGroups": [{"InstanceGroupName": "a", "InstanceCount": "x"}]}'},
        )
    ),
]


@pytest.mark.parametrize("former", ODD, ids=range(len(ODD)))
def test_an_odd_template_is_said_to_be_odd_and_refuses_nothing(former: Template) -> None:
    wanted = custom(A)
    line = said(former, wanted, described(a=1))[0]
    assert "1 -> 3" in line or "not known" in line
    assert refused(former, wanted, None) == []
    assert said(former, former, None) == []


OTHER = group("a", 3, InstanceType="ml.g5.xlarge")


@pytest.mark.parametrize("make", [custom, native])
@pytest.mark.parametrize(
    ("former", "wanted", "found", "expected"),
    [
        (A, OTHER, None, "instance_type"),
        (A, OTHER, described(a=3), "instance_type"),
        # It is as asked already, or is made anew.
        (OTHER, A, described(a=3), None),
        (A, OTHER, {}, None),
        (A, OTHER, described(b=1), None),
        (A, group("a", 3, ThreadsPerCore=1), described(a=3), "threads_per_core"),
        (A, group("a", 3, ExecutionRole="arn:x"), described(a=3), "execution_role_arn"),
    ],
)
def test_what_no_call_changes_is_refused_before_a_deployment(
    make: Make, former: Group, wanted: Group, found: Found, expected: str | None
) -> None:
    lines = refused(make(former), make(wanted), found)
    paths = [each.path for each in lines]
    assert paths == ([] if expected is None else [("cluster", "instance_groups", "a", expected)])
    assert all("Give the group another name" in str(each) for each in lines)


def test_cloudformation_itself_refuses_or_replaces_what_its_resource_cannot_change() -> None:
    changed = {"NodeProvisioningMode": "Continuous"}
    (refusal,) = refused(custom(A), custom(A, **changed), None)
    assert refusal.path == ("cluster", "node_provisioning_mode")
    assert refused(native(A), native(A, **changed), None) == []


def test_a_controller_that_the_file_has_no_more_is_refused_at_the_groups() -> None:
    controller = group("head", 1, SlurmConfig={"NodeType": "Controller"})
    (refusal,) = refused(custom(A, controller), custom(A), None)
    file = parsed_yaml("cluster:\n  instance_groups:\n    - name: a\n", path=Path("ml.yaml"))
    assert file.line(refusal).startswith("ml.yaml:2: cluster.instance_groups: ")
    assert "a cluster has one controller" in refusal.message

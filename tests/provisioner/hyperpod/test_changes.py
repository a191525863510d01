"""What leads from a described cluster to the wanted one, as a table."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ClusterConfig, InstanceGroupConfig
from hyperpod_cdk.schema.section import Api
from hyperpod_shared.cluster_changes import KEYS, Refusal
from hyperpod_shared.owner import STACK_TAG
from provisioner.hyperpod.changes import Aim, Changes, changes, user_tags
from provisioner.hyperpod.differences import remounted, template_differences
from provisioner.hyperpod.failures import refused_change
from provisioner.hyperpod.notes import Notes
from tests.support.provisioner.noted import noted, undone


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


def described(cluster: dict[str, Any]) -> dict[str, Any]:
    """Return what DescribeCluster answers for a cluster that was made so."""
    lists: dict[str, Any] = {
        key: [{**item, "TargetCount": item["InstanceCount"]} for item in cluster[key]]
        for key in ("InstanceGroups", "RestrictedInstanceGroups")
        if key in cluster
    }
    for item in (item for items in lists.values() for item in items):
        del item["InstanceCount"]
    return {**cluster, **lists}


def changed(
    old: dict[str, Any],
    new: dict[str, Any],
    now: dict[str, Any] | None = None,
    *,
    notes: Notes | None = None,
) -> Changes:
    """Return what a cluster that is as the old input says needs to be as the new one says.

    `now` is the cluster if it is otherwise, and the notes are those of the old input.
    """
    aim, tags = Aim(wanted=new, former=old), user_tags(old) if now is None else {}
    return changes(aim, now or described(old), tags, notes or noted(old))


def taken_back(
    old: dict[str, Any],
    new: dict[str, Any],
    now: dict[str, Any],
    *,
    before: dict[str, Any] | None = None,
) -> Changes:
    """Return what the rollback of an update from the old input to the new one needs.

    The update found the cluster as the old input says, or as `before`; the rollback finds `now`.
    """
    notes = undone(noted(old), Aim(wanted=new, former=old), before or described(old))
    return changes(Aim(wanted=old, former=new, rolls_back=True), now, {}, notes)


def sent(*groups: dict[str, Any], **more: Any) -> Changes:
    return Changes(update={"InstanceGroups": list(groups), **more})


A, B = group("a"), group("b")
LABELS = {"Labels": {"team": "x"}}
OVERRIDE = {"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-2"]}


@pytest.mark.parametrize(
    ("case", "old", "new", "expected"),
    [
        ("nothing", cluster(A, B), cluster(A, B), Changes()),
        ("order of groups", cluster(A, B), cluster(B, A), Changes()),
        ("scale", cluster(A, B), cluster(A, group("b", 3)), sent(A, group("b", 3))),
        ("scale to zero", cluster(A), cluster(group("a", 0)), sent(group("a", 0))),
        ("add", cluster(A), cluster(A, B), sent(A, B)),
        ("remove", cluster(A, B), cluster(A), sent(A, InstanceGroupsToDelete=["b"])),
        (
            "rename",
            cluster(A, B),
            cluster(A, group("z")),
            sent(A, group("z"), InstanceGroupsToDelete=["b"]),
        ),
        (
            "labels",
            cluster(A, B),
            cluster(group("a", KubernetesConfig=LABELS), B),
            sent(group("a", KubernetesConfig=LABELS), B),
        ),
        (
            "flexible group gets another order of types",
            cluster(group("a", InstanceRequirements={"InstanceTypes": ["x", "y"]})),
            cluster(group("a", InstanceRequirements={"InstanceTypes": ["y", "x"]})),
            sent(group("a", InstanceRequirements={"InstanceTypes": ["y", "x"]})),
        ),
        (
            "restricted group",
            cluster(A, RestrictedInstanceGroups=[B]),
            cluster(A, RestrictedInstanceGroups=[group("b", 2)]),
            sent(A, RestrictedInstanceGroups=[group("b", 2)]),
        ),
        (
            "order of subnets",
            cluster(A, VpcConfig={"Subnets": ["s-1", "s-2"]}),
            cluster(A, VpcConfig={"Subnets": ["s-2", "s-1"]}),
            Changes(),
        ),
        (
            "role left out with autoscaling",
            cluster(A, AutoScaling={"Mode": "Enable"}, ClusterRole="r"),
            cluster(A),
            sent(A, AutoScaling={"Mode": "Disable"}),
        ),
        (
            "node recovery comes with every group",
            cluster(A, B),
            cluster(A, B, NodeRecovery="None"),
            sent(A, B, NodeRecovery="None"),
        ),
        (
            "autoscaling left out is switched off",
            cluster(A, AutoScaling={"Mode": "Enable"}),
            cluster(A),
            sent(A, AutoScaling={"Mode": "Disable"}),
        ),
        (
            "tags",
            cluster(A, Tags=[{"Key": "k", "Value": "1"}, {"Key": "gone", "Value": "1"}]),
            cluster(A, Tags=[{"Key": "k", "Value": "2"}, {"Key": "new", "Value": "3"}]),
            Changes(tags_to_add={"k": "2", "new": "3"}, tags_to_remove=("gone",)),
        ),
        (
            "tags that are the provisioner's own stay as it wrote them",
            cluster(A, Tags=[{"Key": STACK_TAG, "Value": "stack"}]),
            cluster(A, Tags=[{"Key": STACK_TAG, "Value": "another"}]),
            Changes(),
        ),
    ],
)
def test_changes(case: str, old: dict[str, Any], new: dict[str, Any], expected: Changes) -> None:
    assert changed(old, new) == expected, case


def slurm(strategy: str | None = None, **more: Any) -> dict[str, Any]:
    settings = {"SlurmConfigStrategy": strategy} if strategy else {}
    return {"Orchestrator": {"Slurm": {**settings, **more}}}


def node(name: str, node_type: str = "Compute", partition: str = "", **more: Any) -> dict[str, Any]:
    partitions = {"PartitionNames": [partition]} if partition else {}
    return group(name, SlurmConfig={"NodeType": node_type, **partitions}, **more)


DATABASE: dict[str, Any] = {
    "AccountingDatabase": {"Endpoint": "db.example.com", "SecretArn": "arn:secret"}
}
HEAD, CPU, GPU = node("head", "Controller"), node("a", partition="cpu"), node("b", partition="gpu")
MANAGED, MERGE, ACCOUNTED = slurm("Managed"), slurm("Merge"), slurm(**DATABASE)
LUSTRE = {"FsxLustreConfig": {"DnsName": "fs-1.fsx", "MountName": "m", "MountPath": "/fsx"}}


@pytest.mark.parametrize(
    ("case", "old", "new", "expected"),
    [
        (
            "a partition is added",
            cluster(HEAD, CPU, **slurm()),
            cluster(HEAD, CPU, GPU, **slurm()),
            sent(HEAD, CPU, GPU),
        ),
        (
            "a partition moves to another group; the strategy comes with every update",
            cluster(HEAD, CPU, GPU, **MANAGED),
            cluster(HEAD, node("a", partition="gpu"), node("b", partition="cpu"), **MANAGED),
            sent(HEAD, node("a", partition="gpu"), node("b", partition="cpu"), **MANAGED),
        ),
        (
            "a partition is removed",
            cluster(HEAD, CPU, GPU, **MANAGED),
            cluster(HEAD, CPU, **MANAGED),
            sent(HEAD, CPU, InstanceGroupsToDelete=["b"], **MANAGED),
        ),
        (
            "strategy",
            cluster(HEAD, CPU, **MANAGED),
            cluster(HEAD, CPU, **MERGE),
            sent(HEAD, CPU, **MERGE),
        ),
        (
            "accounting",
            cluster(HEAD, CPU, **slurm()),
            cluster(HEAD, CPU, **ACCOUNTED),
            sent(HEAD, CPU, **ACCOUNTED),
        ),
    ],
)
def test_changes_under_slurm(
    case: str, old: dict[str, Any], new: dict[str, Any], expected: Changes
) -> None:
    assert changed(old, new) == expected, case


@pytest.mark.parametrize("rolls_back", [False, True])
def test_what_hyperpod_fills_in_under_slurm_is_no_change(*, rolls_back: bool) -> None:
    wanted = cluster(HEAD, CPU, **ACCOUNTED)
    filled = {**DATABASE["AccountingDatabase"], "Port": 3306, "Name": "slurm_acct_db_1"}
    empty = node("head", "Controller", LifeCycleConfig={})
    empty["SlurmConfig"]["PartitionNames"] = []
    now = described(cluster(empty, CPU, **slurm("Merge", AccountingDatabase=filled)))
    for former in (wanted, cluster(HEAD, CPU, Tags=[{"Key": "k", "Value": "v"}], **slurm())):
        made = taken_back(wanted, former, now) if rolls_back else changed(former, wanted, now)
        assert made == Changes()


def test_the_way_back_from_another_orchestrator_calls_nothing() -> None:
    eks = cluster(A, Orchestrator={"Eks": {"ClusterArn": "arn"}})
    assert taken_back(eks, cluster(A, **MERGE), described(eks)) == Changes()


def test_a_slurm_cluster_may_be_described_without_its_orchestrator() -> None:
    wanted = cluster(HEAD, group("a", 2), **slurm())
    assert changed(cluster(HEAD, A), wanted).refusals == ()


def test_a_rollback_leaves_the_accounting_database_and_says_so() -> None:
    """HyperPod does not go back to the database on the controller."""
    wanted, now = cluster(HEAD, **slurm()), described(cluster(HEAD, **ACCOUNTED))
    assert taken_back(wanted, cluster(HEAD, **ACCOUNTED), now) == Changes()
    assert template_differences(wanted, now) == {"Orchestrator": "keeps its accounting database"}


def test_other_mounts_reach_new_nodes_alone_and_the_answer_says_so(
    snapshot: SnapshotAssertion,
) -> None:
    old, new = cluster(HEAD, CPU), cluster(HEAD, {**CPU, "InstanceStorageConfigs": [LUSTRE]})
    assert changed(old, new).update["InstanceGroups"][1]["InstanceStorageConfigs"] == [LUSTRE]
    assert remounted(Aim(wanted=new, former=old)) == snapshot


KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
DATA: dict[str, Any] = {"EbsVolumeConfig": {"VolumeSizeInGB": 500}}
ROOT: dict[str, Any] = {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": KEY}}
SCALED = cluster(A, AutoScaling={"Mode": "Enable"}, ClusterRole="role")
FLEXIBLE: dict[str, Any] = {"InstanceRequirements": {"InstanceTypes": ["ml.m5.large"]}}


def encrypted(storage: dict[str, Any], *, key: str = KEY) -> dict[str, Any]:
    return {"EbsVolumeConfig": {**storage["EbsVolumeConfig"], "VolumeKmsKeyId": key}}


@pytest.mark.parametrize(
    ("old", "new", "what", "group_name", "instead"),
    [
        (cluster(A), cluster(A, VpcConfig={"Subnets": ["x"]}), "VpcConfig", None, "destroy this"),
        (cluster(A), cluster(A, Orchestrator={"Eks": {}}), "Orchestrator", None, "destroy this"),
        (
            cluster(A, Orchestrator={"Eks": {"ClusterArn": "arn"}}),
            cluster(A, **slurm()),
            "Orchestrator",
            None,
            "Restore cluster.orchestrator",
        ),
        (
            cluster(HEAD, **ACCOUNTED),
            cluster(HEAD, **slurm()),
            "AccountingDatabase",
            None,
            "Restore cluster.slurm.accounting",
        ),
        (cluster(HEAD, CPU), cluster(HEAD, node("a", "Login")), "NodeType", "a", "a new group"),
        (
            cluster(HEAD, CPU),
            cluster(node("other", "Controller"), CPU),
            "InstanceGroupName",
            "head",
            "a cluster has one controller",
        ),
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
            cluster(group("a", ExecutionRole="role")),
            cluster(group("a", ExecutionRole="other")),
            "ExecutionRole",
            "a",
            "another name",
        ),
        (
            cluster(group("a", ThreadsPerCore=2)),
            cluster(group("a", ThreadsPerCore=1)),
            "ThreadsPerCore",
            "a",
            "another name",
        ),
        (
            cluster(group("a", ThreadsPerCore=2, **FLEXIBLE)),
            cluster(group("a", ThreadsPerCore=1, **FLEXIBLE)),
            "ThreadsPerCore",
            "a",
            "another name",
        ),
        (
            cluster(group("a", InstanceStorageConfigs=[DATA])),
            cluster(group("a", InstanceStorageConfigs=[DATA, ROOT])),
            "VolumeKmsKeyId",
            "a",
            "another name",
        ),
        (
            cluster(group("a", InstanceStorageConfigs=[DATA])),
            cluster(group("a", InstanceStorageConfigs=[encrypted(DATA)])),
            "VolumeKmsKeyId",
            "a",
            "encryption.node_volumes: false",
        ),
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
    (refused,) = changed(old, new).refusals
    assert (refused.what, refused.group) == (what, group_name)
    assert instead in refused.instead


def test_a_key_is_the_same_by_its_id_and_another_size_is_no_other_key() -> None:
    old = cluster(group("a", InstanceStorageConfigs=[encrypted(DATA), ROOT]))
    by_arn = [encrypted({"EbsVolumeConfig": {"VolumeSizeInGB": 900}}, key=f"arn:key/{KEY}"), ROOT]
    assert changed(old, cluster(group("a", InstanceStorageConfigs=by_arn))).refusals == ()


def test_threads_that_are_left_out_are_not_asked_to_change() -> None:
    assert changed(cluster(group("a", ThreadsPerCore=2)), cluster(A)) == Changes()


def test_new_group_may_override_the_vpc() -> None:
    assert changed(cluster(A), cluster(A, group("b", OverrideVpcConfig=OVERRIDE))).refusals == ()


def test_going_back_to_what_the_cluster_still_is_changes_nothing() -> None:
    refused, original = cluster(A, group("z", 3), VpcConfig={"Subnets": ["x"]}), cluster(A)
    now = described(original)
    assert taken_back(original, refused, now) == Changes()
    assert changed(refused, original, now, notes=noted(original)) == Changes()


def test_a_rollback_takes_back_only_what_came_true() -> None:
    failed = cluster(group("a", 9, KubernetesConfig=LABELS), group("b", 2), group("z"))
    now = cluster(group("a", 5, KubernetesConfig=LABELS), group("b", 2), group("z"), group("own"))
    made = taken_back(cluster(A, B), failed, described(now))
    assert made == sent(group("a", 5), B, group("own"), InstanceGroupsToDelete=["z"])


def test_a_rollback_leaves_a_group_that_is_not_as_the_failed_request_made_it() -> None:
    failed = cluster(A, group("b", 5))
    assert taken_back(cluster(A), failed, described(cluster(A, group("b", 6)))) == Changes()
    deleted = taken_back(cluster(A), failed, described(failed))
    assert deleted.update["InstanceGroupsToDelete"] == ["b"]


def test_a_rollback_makes_a_removed_group_anew_with_the_nodes_that_it_had() -> None:
    before, now = described(cluster(A, group("b", 6))), described(cluster(A))
    made = taken_back(cluster(A, B), cluster(A), now, before=before)
    assert made == sent(A, group("b", 6))


def test_a_group_that_is_new_in_the_template_and_there_gets_its_image() -> None:
    wanted = cluster(A, group("b", ImageReleaseVersion="1.2.0"), group("c"))
    aim = Aim(wanted=wanted, former=cluster(A), latest_software=True)
    made = changes(aim, described(cluster(A, B, group("c"))), {}, noted(cluster(A)))
    assert [call.groups for _, call in made.software] == [(("a", None), ("b", "1.2.0"))]


def test_a_group_or_a_field_that_is_gone_comes_back() -> None:
    both = cluster(A, B)
    assert changed(both, both, described(cluster(A))) == sent(A, B)
    other = described(cluster(A, B, NodeRecovery="None"))
    assert changed(both, both, other) == sent(A, B, NodeRecovery="Automatic")


@pytest.mark.parametrize(
    "there",
    [
        {"TargetCount": 3, "CurrentImageReleaseVersion": "1.2.0"},
        {"TargetCount": 6},
        {"TargetCount": 3, "CurrentImageReleaseVersion": "1.1.0"},
        {"TargetCount": 3, "Status": "Deleting"},
    ],
)
def test_what_differs_from_the_template_is_told(
    there: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    wanted = cluster(group("a", 3, ImageReleaseVersion="1.2.0"))
    found = {"InstanceGroups": [{"InstanceGroupName": "a", **there}]}
    told = template_differences(wanted, found)
    assert told == snapshot
    scaling = {**found, "AutoScaling": {"Mode": "Enable"}}
    counted = {name: what for name, what in told.items() if "nodes" not in what}
    assert template_differences(wanted, scaling) == counted


def test_an_update_leaves_a_group_that_no_template_named() -> None:
    now = described(cluster(A, B, group("operators", 8), group("empty", 0)))
    made = changed(cluster(A, B), cluster(group("a", 2)), now)
    assert made == sent(
        group("a", 2), group("operators", 8), group("empty", 0), InstanceGroupsToDelete=["b"]
    )


def test_an_operators_group_is_sent_as_hyperpod_takes_it() -> None:
    now = described(cluster(A, group("operators", 3)))
    shown = {"CurrentLabels": {"team": "x"}, "CurrentTaints": ["old"], "DesiredTaints": ["new"]}
    now["InstanceGroups"][1] |= {"MinCount": 4, "KubernetesConfig": shown}
    config = {"Labels": {"team": "x"}, "Taints": ["new"]}
    operators = group("operators", 3, MinInstanceCount=3, KubernetesConfig=config)
    assert changed(cluster(A), cluster(group("a", 2)), now) == sent(group("a", 2), operators)


def test_a_restricted_group_stays_in_its_list() -> None:
    now = {
        **described(cluster(A)),
        "RestrictedInstanceGroups": [{"InstanceGroupName": "operators", "TargetCount": 8}],
    }
    made = changed(cluster(A), cluster(group("a", 2)), now)
    assert made == sent(group("a", 2), RestrictedInstanceGroups=[group("operators", 8)])


def test_an_update_removes_the_groups_that_were_left_and_no_others() -> None:
    left = group("left-behind")
    now = described(cluster(A, group("operators", 8), left))
    made = changed(cluster(A), cluster(group("a", 2)), now, notes=noted(cluster(A, left)))
    assert made == sent(
        group("a", 2), group("operators", 8), InstanceGroupsToDelete=["left-behind"]
    )


def test_an_update_gives_a_group_that_was_left_what_the_template_says() -> None:
    wanted = cluster(group("a", 9, ImageId="ami-1"))
    left = cluster(group("a", 2))
    assert changed(wanted, wanted, described(left)).update == {}
    made = changed(wanted, wanted, described(left), notes=noted(left))
    assert made.update["InstanceGroups"][0]["InstanceCount"] == 9
    assert [call.groups for _, call in made.software] == [(("a", None),)]


@pytest.mark.parametrize(("least", "count"), [(8, 8), (9, None), (None, 8)])
def test_a_rollback_gives_a_found_group_no_less_than_its_least(
    least: int | None, count: int | None
) -> None:
    """A `count` of None: no call."""

    def there(number: int) -> dict[str, Any]:
        shown = {"InstanceGroupName": "operators", "TargetCount": number, "MinCount": least}
        now = described(cluster(A))
        return {**now, "InstanceGroups": [*now["InstanceGroups"], shown]}

    failed = cluster(A, group("operators", 9, MinInstanceCount=least))
    made = taken_back(cluster(A), failed, there(9), before=there(8))
    groups = made.update.get("InstanceGroups", ())
    assert [each["InstanceCount"] for each in groups[1:]] == ([] if count is None else [count])


def test_a_change_of_waiting_leaves_what_drifted() -> None:
    aim, now = Aim(wanted=cluster(A), former=cluster(A)), described(cluster(A, B))
    assert changes(aim, now, {"team": "x"}, noted(cluster(A))) == Changes()


@pytest.mark.parametrize(
    ("described_value", "wanted", "sent_value"),
    [
        ({"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}, {"Mode": "Enable"}, None),
        ({"Mode": "Disable"}, {"Mode": "Enable"}, {"Mode": "Enable"}),
        (None, {"Mode": "Enable"}, None),
    ],
)
def test_defaults_of_fields_that_are_not_asked_to_change_are_not_sent(
    described_value: object, wanted: object, sent_value: object
) -> None:
    old = cluster(A, TieredStorageConfig=wanted)
    now = {**described(cluster(A)), "TieredStorageConfig": described_value, "NewField": 1}
    wanted = {**old, "Tags": [{"Key": "k", "Value": "v"}]}
    assert changed(old, wanted, now).update.get("TieredStorageConfig") == sent_value


def test_unknown_read_only_fields_are_no_difference() -> None:
    now = described(cluster(A))
    now["InstanceGroups"][0] |= {"ActiveOperations": {"Scaling": 1}, "ThreadsPerCore": 2}
    tagged = cluster(A, Tags=[{"Key": "k", "Value": "v"}])
    assert changed(cluster(A), tagged, now).update == {}


@pytest.mark.parametrize(
    ("case", "details", "count"),
    [
        ("as in the template", {"TargetCount": 1}, 1),
        ("scaled outside", {"TargetCount": 7}, 7),
        ("scaled to nothing outside", {"TargetCount": 0}, 0),
    ],
)
def test_count_that_is_not_asked_to_change_is_the_clusters_own(
    case: str, details: dict[str, Any], count: int
) -> None:
    labelled = cluster(group("a", KubernetesConfig=LABELS))
    now = {**cluster(), "InstanceGroups": [{"InstanceGroupName": "a", **details}]}
    (item,) = changed(cluster(A), labelled, now).update["InstanceGroups"]
    assert item["InstanceCount"] == count, case


def test_kept_count_stays_within_the_least() -> None:
    old, new = group("a", 4, MinInstanceCount=2), group("a", 4, MinInstanceCount=3)
    now = {**cluster(), "InstanceGroups": [{"InstanceGroupName": "a", "TargetCount": 1}]}
    made = changed(cluster(old), cluster(new), now)
    assert made.update["InstanceGroups"][0]["InstanceCount"] == 3


def test_count_that_is_asked_to_change_is_sent() -> None:
    now = {**cluster(), "InstanceGroups": [{"InstanceGroupName": "a", "TargetCount": 7}]}
    assert changed(cluster(A), cluster(group("a", 2)), now) == sent(group("a", 2))


def test_a_cluster_that_is_taken_over_is_compared_whole() -> None:
    now = cluster(group("a", 4), B, AutoScaling={"Mode": "Enable"}, NodeRecovery="None")
    aim = Aim(wanted=cluster(A), former=None, clears_groups=True)
    made = changes(aim, described(now), {"team": "x", "aws:x": "y"}, Notes())
    assert made == Changes(
        update={
            "AutoScaling": {"Mode": "Disable"},
            "NodeRecovery": "Automatic",
            "InstanceGroups": [A],
            "InstanceGroupsToDelete": ["b"],
        },
        tags_to_remove=("team",),
    )


@pytest.mark.parametrize(
    "refused",
    [
        Refusal(what="NodeProvisioningMode", instead="Restore it."),
        Refusal(what="ThreadsPerCore", group="a", instead="Restore it."),
        Refusal(what="VpcConfig", instead="Restore it."),
    ],
    ids=lambda refused: refused.what,
)
def test_a_refused_change_names_the_key_to_change_back(
    refused: Refusal, snapshot: SnapshotAssertion
) -> None:
    assert str(refused_change("c", [refused])) == snapshot


def test_each_key_is_that_of_its_field() -> None:
    sections = (ClusterConfig, InstanceGroupConfig)
    marked = {
        mark.member.partition(".")[0]: key
        for section in sections
        for key, field in section.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Api)
    }
    assert {what: marked.get(what) for what in KEYS} == KEYS

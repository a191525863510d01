"""Which AMIs change, and by which calls of UpdateClusterSoftware."""

from typing import Any

import pytest

from hyperpod_shared.clusters import groups_of
from provisioner.hyperpod.changes import Aim, Changes, changes
from tests.support.provisioner.noted import noted, taken_back, undone, updated

AMI, OTHER_AMI = "ami-0123456789abcdef0", "ami-0fedcba9876543210"
ROLLING = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}
SCHEDULED = {"ScheduleExpression": "cron(0 2 ? * MON *)", "DeploymentConfig": ROLLING}


def group(name: str, **more: Any) -> dict[str, Any]:
    return {"InstanceGroupName": name, "InstanceCount": 1, **more}


def cluster(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"ClusterName": "c", "InstanceGroups": list(groups), **more}


def calls(*named: str, **more: Any) -> dict[str, Any]:
    return {"InstanceGroups": [{"InstanceGroupName": name} for name in named], **more}


def changed(old: dict[str, Any], new: dict[str, Any], *, asked: bool = False) -> Changes:
    return changes(Aim(wanted=new, former=old, latest_software=asked), old, {}, noted(old))


def inputs(made: Changes) -> list[dict[str, Any]]:
    return [update.input for _, update in made.software if update.groups]


RELEASE = {"InstanceGroups": [{"InstanceGroupName": "a", "ImageReleaseVersion": "2.0.0"}]}


@pytest.mark.parametrize(
    ("case", "old", "new", "asked", "expected"),
    [
        ("nothing", group("a"), group("a"), False, []),
        ("asked for", group("a"), group("a"), True, [calls("a")]),
        ("a release", group("a"), group("a", ImageReleaseVersion="2.0.0"), False, [RELEASE]),
        (
            "a release no longer asked for stays",
            group("a", ImageReleaseVersion="2.0.0"),
            group("a"),
            False,
            [],
        ),
        (
            "a custom AMI",
            group("a"),
            group("a", ImageId=AMI),
            False,
            [calls("a", ImageId=AMI)],
        ),
        (
            "another custom AMI",
            group("a", ImageId=AMI),
            group("a", ImageId=OTHER_AMI),
            False,
            [calls("a", ImageId=OTHER_AMI)],
        ),
        (
            "back to HyperPod's",
            group("a", ImageId=AMI),
            group("a"),
            False,
            [calls("a", ImageId="default")],
        ),
        (
            "back to a release of HyperPod's",
            group("a", ImageId=AMI),
            group("a", ImageReleaseVersion="2.0.0"),
            False,
            [{**RELEASE, "ImageId": "default"}],
        ),
        ("default by name", group("a"), group("a", ImageId="default"), False, []),
        ("a custom AMI is not updated", *[group("a", ImageId=AMI)] * 2, True, []),
        ("a release is not updated", *[group("a", ImageReleaseVersion="2.0.0")] * 2, True, []),
        (
            "as on the schedule",
            *[group("a", ScheduledUpdateConfig=SCHEDULED)] * 2,
            True,
            [calls("a", DeploymentConfig=ROLLING)],
        ),
        ("a new group comes with its own", group("z"), group("a", ImageId=AMI), False, []),
    ],
)
def test_calls(
    case: str,
    old: dict[str, Any],
    new: dict[str, Any],
    asked: bool,
    expected: list[dict[str, Any]],
) -> None:
    assert inputs(changed(cluster(old), cluster(new), asked=asked)) == expected, case


def test_groups_alike_share_a_call() -> None:
    old = [group(name) for name in "abcd"]
    new = [
        group("a", ImageId=AMI),
        group("b", ImageId=OTHER_AMI),
        group("c", ImageId=AMI),
        group("d"),
    ]
    made = changed(cluster(*old), cluster(*new), asked=True)
    assert inputs(made) == [
        calls("a", "c", ImageId=AMI),
        calls("b", ImageId=OTHER_AMI),
        calls("d"),
    ]


def test_restricted_groups_are_left_alone() -> None:
    restricted = cluster(RestrictedInstanceGroups=[group("r")])
    assert changed(restricted, restricted, asked=True) == Changes()


@pytest.mark.parametrize(
    ("wanted", "details", "sent"),
    [
        ({"ImageId": AMI}, {"DesiredImageId": AMI}, False),
        ({"ImageId": AMI}, {"DesiredImageId": OTHER_AMI}, True),
        ({"ImageReleaseVersion": "2.0.0"}, {"DesiredImageReleaseVersion": "2.0.0"}, False),
        ({"ImageReleaseVersion": "2.0.0"}, {"DesiredImageReleaseVersion": "1.0.0"}, True),
        ({"ImageReleaseVersion": "2.0.0"}, {"Status": "Deleting"}, False),
    ],
)
def test_an_ami_that_is_there_is_not_asked_for(
    wanted: dict[str, Any], details: dict[str, Any], sent: bool
) -> None:
    described = {"InstanceGroups": [{"InstanceGroupName": "a", "TargetCount": 1, **details}]}
    aim = Aim(wanted=cluster(group("a", **wanted)), former=cluster(group("a")))
    assert bool(inputs(changes(aim, described, {}, noted(cluster(group("a")))))) == sent


def test_a_call_keeps_its_key_whatever_is_there_already() -> None:
    aim = Aim(wanted=cluster(group("a", ImageId=AMI)), former=cluster(group("a")))
    notes = noted(cluster(group("a")))
    (before,) = changes(aim, cluster(group("a")), {}, notes).software
    (after,) = changes(aim, cluster(group("a", DesiredImageId=AMI)), {}, notes).software
    assert before[0] == after[0]
    assert (bool(before[1].groups), bool(after[1].groups)) == (True, False)


A, OTHER = group("a", ImageId=AMI), group("a", ImageId=OTHER_AMI)
PINNED, OLDER = (group("a", ImageReleaseVersion=f"{number}.0.0") for number in (2, 1))
SCALED = {**group("a"), "InstanceCount": 2}
THIRD = {"CurrentImageId": "ami-1", "DesiredImageId": "ami-1"}


@pytest.mark.parametrize(
    ("case", "noted_as", "new", "shown", "latest", "needed"),
    [
        ("left with an old release", OLDER, PINNED, {}, False, True),
        ("left with an old AMI", OTHER, A, THIRD, False, True),
        ("given a third one by hand", PINNED, PINNED, THIRD, False, False),
        ("given a third AMI by hand", A, A, THIRD, False, False),
        ("that, and another one is asked for", OLDER, PINNED, THIRD, False, True),
        ("that, and the latest is asked for", group("a"), group("a"), THIRD, True, True),
        ("not there", group("a"), A, None, False, False),
    ],
)
def test_what_an_update_still_gives(
    case: str,
    noted_as: dict[str, Any],
    new: dict[str, Any],
    shown: dict[str, Any] | None,
    *,
    latest: bool,
    needed: bool,
) -> None:
    aim = Aim(wanted=cluster(new), former=cluster(new), latest_software=latest)
    made = changes(aim, there(shown), {}, noted(cluster(noted_as)))
    assert bool(inputs(made)) is needed, case


@pytest.mark.parametrize(
    ("case", "failed", "before", "shown", "left", "latest", "needed"),
    [
        ("it came true", OTHER, A, {"DesiredImageId": OTHER_AMI}, A, False, True),
        ("it did not come true", OTHER, A, THIRD, A, False, False),
        ("HyperPod's own took the place", group("a"), A, THIRD, A, False, True),
        ("that was left so before", group("a"), A, THIRD, group("a"), False, False),
        ("a release was only left out", group("a"), PINNED, THIRD, PINNED, False, False),
        ("the latest took its place", group("a"), PINNED, THIRD, PINNED, True, True),
    ],
)
def test_what_a_rollback_gives_back(
    case: str,
    failed: dict[str, Any],
    before: dict[str, Any],
    shown: dict[str, Any],
    left: dict[str, Any],
    *,
    latest: bool,
    needed: bool,
) -> None:
    """The update that failed found the group as `left` says."""
    asked = Aim(wanted=cluster(failed), former=cluster(before), latest_software=latest)
    back = Aim(wanted=cluster(before), former=cluster(failed), rolls_back=True)
    notes = undone(noted(cluster(left)), asked, there({}))
    assert bool(inputs(changes(back, there(shown), {}, notes))) is needed, case


def test_a_rollback_leaves_the_ami_that_the_request_before_the_failed_one_asked_for() -> None:
    """It was still under way then, and HyperPod took it back."""
    old, pinned, scaled = cluster(group("a")), cluster(PINNED), cluster(SCALED)
    to_pinned, to_scaled = Aim(wanted=pinned, former=old), Aim(wanted=scaled, former=pinned)
    patched = updated(noted(old), to_pinned, there({}), request="earlier")
    busy = {"SoftwareUpdateStatus": "InProgress", **THIRD}
    failed = updated(patched, to_scaled, there(busy), request="failed")
    failed = failed.reached(groups_of(scaled), there({**busy, "TargetCount": 2}), others=())
    back = Aim(wanted=pinned, former=scaled, rolls_back=True)
    shown = {"SoftwareUpdateStatus": "RollbackComplete", "TargetCount": 2}
    made = changes(back, there(shown), {}, taken_back(failed))
    assert made.update["InstanceGroups"] == [PINNED]
    assert inputs(made) == []


def test_what_a_rollback_gave_back_beside_an_ami_that_stays_is_noted_as_given_back() -> None:
    """The next update asks for it again, and its own rollback takes that back."""
    before, wanted = group("a", **_partition("cpu")), {**PINNED, **_partition("long")}
    asked = Aim(wanted=cluster(wanted), former=cluster(before))
    back = undone(noted(cluster(before)), asked, there(_partition("cpu")))
    shown = there({"CurrentImageReleaseVersion": "2.0.0", **_partition("cpu")})
    left = back.given_back(groups_of(cluster(before)), shown)
    again = undone(left.settled(shown, groups_of(cluster(before))), asked, shown)
    as_asked = there({"CurrentImageReleaseVersion": "2.0.0", **_partition("long")})
    way_back = Aim(wanted=cluster(before), former=cluster(wanted), rolls_back=True)
    assert changes(way_back, as_asked, {}, again).update["InstanceGroups"] == [before]


def test_a_number_of_nodes_that_was_given_back_during_an_update_of_amis_is_asked_for_again() -> (
    None
):
    before = cluster(group("a"))
    asked = Aim(wanted=cluster({**PINNED, "InstanceCount": 2}), former=before)
    busy = there({"SoftwareUpdateStatus": "InProgress"})
    left = undone(noted(before), asked, there({})).given_back(groups_of(before), busy)
    again = left.taken_by("again", asks="again", takes_back="").settled(busy, groups_of(before))
    assert changes(asked, busy, {}, again).update["InstanceGroups"][0]["InstanceCount"] == 2


def _partition(name: str) -> dict[str, Any]:
    return {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": [name]}}


def there(shown: dict[str, Any] | None) -> dict[str, Any]:
    """Return a cluster whose group has what it shows; None for one without it."""
    return cluster(*([] if shown is None else [{**group("a"), "TargetCount": 1, **shown}]))

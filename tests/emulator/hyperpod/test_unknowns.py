"""What AWS does not document can be tried either way in the rehearsal's HyperPod API."""

from __future__ import annotations

from emulator.hyperpod import Timings, Unknowns
from tests.support.hyperpod_api import NAME, Subject, create_request, group, subject

TWO = create_request(group("a"), group("b"), NodeProvisioningMode="Continuous")


def _running(unknowns: Unknowns) -> Subject:
    api = subject(unknowns=unknowns)
    api("CreateCluster", **TWO)
    api.wait()
    return api


def test_left_out_groups_are_kept_or_removed() -> None:
    kept, removed = _running(Unknowns()), _running(Unknowns(left_out_groups="removed"))
    for api in (kept, removed):
        api("UpdateCluster", ClusterName=NAME, InstanceGroups=[group("a", 3)])
        api.wait()
    assert kept.counts() == {"a": (3, 3), "b": (2, 2)}
    assert removed.counts() == {"a": (3, 3)}


def test_current_count_has_nodes_that_run_or_all_that_were_launched() -> None:
    counts = {}
    for counted in ("running", "launched"):
        api = subject(unknowns=Unknowns(current_count=counted))
        api("CreateCluster", **create_request(group("a"), NodeProvisioningMode="Continuous"))
        api.wait(Timings().create + Timings().node_launch)  # the scripts run now
        counts[counted] = api.counts()["a"]
    assert counts == {"running": (0, 2), "launched": (2, 2)}


def test_list_tags_shows_changes_late() -> None:
    api = _running(Unknowns(tag_lag=60))
    arn = api("DescribeCluster", ClusterName=NAME)["ClusterArn"]

    def tags() -> list[dict[str, str]]:
        listed: list[dict[str, str]] = api("ListTags", ResourceArn=arn)["Tags"]
        return listed

    api("AddTags", ResourceArn=arn, Tags=[{"Key": "k", "Value": "1"}])
    api("AddTags", ResourceArn=arn, Tags=[{"Key": "k", "Value": "2"}])
    assert tags() == []
    api.wait(60)
    assert tags() == [{"Key": "k", "Value": "2"}]
    api("DeleteTags", ResourceArn=arn, TagKeys=["k"])
    assert tags() == [{"Key": "k", "Value": "2"}]
    api.wait(60)
    assert tags() == []

"""Whatever is asked of the HyperPod API in whatever order, it ends as wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.hyperpod_api import NAME, group, subject

NAMES = ["a", "b", "c", "d"]
COUNTS = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 5), max_size=len(NAMES))


@dataclass(frozen=True, slots=True)
class Update:
    """One UpdateCluster call: counts to set, groups to delete, and the pause before it."""

    counts: dict[str, int]
    deleted: set[str]
    pause: float


UPDATES = st.lists(
    st.builds(
        Update,
        counts=COUNTS,
        deleted=st.sets(st.sampled_from(NAMES)),
        pause=st.floats(0, 10),
    ),
    max_size=6,
)


def specs(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [group(name, count) for name, count in counts.items()]


@settings(max_examples=60, deadline=None)
@given(first=COUNTS, updates=UPDATES, continuous=st.booleans())
def test_cluster_ends_with_the_wanted_groups_and_nodes(
    *, first: dict[str, int], updates: list[Update], continuous: bool
) -> None:
    api = subject()
    wanted = dict(first)
    api.create(
        InstanceGroups=specs(first) or None,
        NodeProvisioningMode="Continuous" if continuous else None,
    )
    for update in updates:
        api.wait(update.pause)
        described = api("DescribeCluster", ClusterName=NAME)
        groups = {g["InstanceGroupName"]: g["Status"] for g in described["InstanceGroups"]}
        deleting = {name for name, status in groups.items() if status == "Deleting"}
        # What is asked for must be allowed: not while the cluster or the group is busy.
        if described["ClusterStatus"] != "InService":
            continue
        deleted = update.deleted & set(groups) - set(update.counts)
        counts = {n: c for n, c in update.counts.items() if n not in deleting}
        request: dict[str, Any] = {"InstanceGroupsToDelete": sorted(deleted)}
        if counts:
            request["InstanceGroups"] = specs(counts)
        api("UpdateCluster", ClusterName=NAME, **request)
        wanted = {n: c for n, c in (wanted | counts).items() if n not in deleted}
    api.wait()

    assert api.status() == "InService"
    assert api.counts() == {name: (count, count) for name, count in wanted.items()}
    nodes = api.nodes(IncludeNodeLogicalIds=True)
    assert {node["InstanceStatus"]["Status"] for node in nodes} <= {"Running"}
    found = [node["InstanceGroupName"] for node in nodes]
    assert {name: found.count(name) for name in wanted} == wanted
    assert len(found) == sum(wanted.values())
    assert len({node["InstanceId"] for node in nodes}) == len(nodes)
    assert len({node["PrivateDnsHostname"] for node in nodes}) == len(nodes)

"""Whatever is asked for, cancelled and retried: the cluster becomes what was wanted last."""

import contextlib
import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hyperpod_emulator.hyperpod import HyperPodService, Unknowns
from hyperpod_shared.cluster_changes import UPDATABLE
from hyperpod_shared.clusters import groups_of
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import TAG_PREFIX
from provisioner.hyperpod.changes import Aim, changes
from tests.support.provisioner.cloudformation import Time, Waiter
from tests.support.provisioner.hyperpod_stack import describe, hyperpod_stack, tags_of_cluster
from tests.support.provisioner.local_sagemaker import LocalSageMaker
from tests.support.provisioner.noted import noted, undone

NAME = "ml-cluster"
_ENOUGH_SECONDS = 1000.0


def properties_of(wanted: dict[str, Any]) -> dict[str, str]:
    return {"ClusterName": NAME, "Request": json.dumps(wanted)}


class Deployed:
    """A stack with a cluster, against the local HyperPod API."""

    def __init__(self, wanted: dict[str, Any], unknowns: Unknowns) -> None:
        self.time = Time()
        service = HyperPodService(clock=lambda: self.time.now, unknowns=unknowns)
        self.sagemaker = LocalSageMaker(service=service)
        self.stack = hyperpod_stack(self.sagemaker, self.time)
        self.waiters: list[Waiter] = []
        self.wanted = properties_of(wanted)
        self.stack.create(self.wanted)
        self.settle()
        self.sagemaker.calls.clear()

    def settle(self) -> None:
        self.time.now += _ENOUGH_SECONDS

    @property
    def described(self) -> dict[str, Any]:
        return describe(self.sagemaker, NAME)

    @property
    def tags(self) -> dict[str, str]:
        tags = tags_of_cluster(self.sagemaker)
        return {key: value for key, value in tags.items() if not key.startswith(TAG_PREFIX)}

    def update(self, wanted: dict[str, str]) -> None:
        """Update the stack to the end."""
        self.stack.cloudformation.status = "UPDATE_IN_PROGRESS"
        waiter = self.stack.begin("Update", wanted, self.wanted)
        self._poll_until_done(waiter)
        self.wanted = wanted
        self.stack.cloudformation.status = "UPDATE_COMPLETE"

    def cancel_update(self, wanted: dict[str, str], *, polls: int, retries: bool) -> None:
        """Begin an update, cancel it after some polls, roll it back; its waiter goes on."""
        self.stack.cloudformation.status = "UPDATE_IN_PROGRESS"
        cancelled = self.stack.begin("Update", wanted, self.wanted)
        request = self.stack.requests
        self.waiters.append(cancelled)
        for _ in range(polls):
            self._poll_former()
        self.time.sleep(1)
        self.stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
        rollback = self.stack.begin("Update", self.wanted, wanted)
        self._poll_until_done(rollback)
        if retries:
            self.settle()
            latest, self.stack.requests = self.stack.requests, request
            with contextlib.suppress(ProvisioningError):
                self.stack.start("Update", wanted, self.wanted)
            self.stack.requests = latest
        self.stack.cloudformation.status = "UPDATE_ROLLBACK_COMPLETE"
        self._poll_former()

    def _poll_until_done(self, waiter: Waiter) -> None:
        for _ in range(120):
            self._poll_former()
            if waiter.poll().complete:
                return
            self.time.sleep(30)
        raise TimeoutError

    def _poll_former(self) -> None:
        for waiter in list(self.waiters):
            try:
                done = waiter.poll().complete
            except ProvisioningError:
                done = True
            if done:
                self.waiters.remove(waiter)
        self.time.sleep(30)


ROLES = [f"arn:aws:iam::111122223333:role/execution-{name}" for name in "ab"]
KUBERNETES = st.fixed_dictionaries(
    {"Labels": st.dictionaries(st.sampled_from(["team", "tier"]), st.sampled_from("xy"))}
)
GROUPS = st.dictionaries(
    st.sampled_from("abcde"),
    st.fixed_dictionaries(
        {"InstanceCount": st.integers(0, 4)},
        optional={
            "MinInstanceCount": st.just(0),
            "KubernetesConfig": KUBERNETES,
            "ImageId": st.sampled_from(["ami-0123456789abcdef0", "default"]),
            "ImageReleaseVersion": st.sampled_from(["1.0.0", "2.1.0"]),
        },
    ),
    min_size=1,
)
TAGS = st.dictionaries(st.sampled_from(["team", "cost", "env"]), st.sampled_from("123"))
CONFIGURATIONS = st.fixed_dictionaries(
    {
        "groups": GROUPS,
        "tags": TAGS,
        "NodeRecovery": st.sampled_from(["Automatic", "None"]),
        "AutoScaling": st.sampled_from([None, "Enable"]),
        "TieredStorageConfig": st.sampled_from([None, 10, 20]),
    }
)


def cluster_input(made: dict[str, Any]) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "ClusterName": NAME,
        "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
        "NodeProvisioningMode": "Continuous",
        "NodeRecovery": made["NodeRecovery"],
        "ClusterRole": ROLES[0],
        "InstanceGroups": [
            # Role and threads never change; they are the group's own.
            {
                "InstanceGroupName": name,
                "InstanceType": "ml.m5.2xlarge",
                "ExecutionRole": ROLES[name > "b"],
                **({"ThreadsPerCore": 1} if name > "c" else {}),
                **more,
            }
            for name, more in made["groups"].items()
        ],
        "Tags": [{"Key": key, "Value": value} for key, value in made["tags"].items()],
    }
    if made["AutoScaling"]:
        wanted["AutoScaling"] = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
    if made["TieredStorageConfig"]:
        wanted["TieredStorageConfig"] = {
            "Mode": "Enable",
            "InstanceMemoryAllocationPercentage": made["TieredStorageConfig"],
        }
    return wanted


INPUTS = CONFIGURATIONS.map(cluster_input)
UNKNOWNS = st.builds(
    Unknowns,
    left_out_groups=st.sampled_from(["kept", "removed"]),
    tag_lag=st.sampled_from([0.0, 45.0]),
)


def assert_is(cluster: Deployed, wanted: dict[str, Any]) -> None:
    described = cluster.described
    assert described["ClusterStatus"] == "InService"
    assert described["NodeRecovery"] == wanted["NodeRecovery"]
    scaling = described.get("AutoScaling", {}).get("Mode") == "Enable"
    assert scaling == ("AutoScaling" in wanted)
    tiered = described.get("TieredStorageConfig", {"Mode": "Disable"})
    assert tiered == wanted.get("TieredStorageConfig", {"Mode": "Disable"})
    details = {group["InstanceGroupName"]: group for group in described["InstanceGroups"]}
    groups = {group["InstanceGroupName"]: group for group in wanted["InstanceGroups"]}
    assert details.keys() == groups.keys()
    for name, group in groups.items():
        got = details[name]
        assert got["TargetCount"] == got["CurrentCount"] == group["InstanceCount"]
        assert got["ExecutionRole"] == group["ExecutionRole"]
        labels = got.get("KubernetesConfig", {}).get("DesiredLabels", {})
        assert labels == group.get("KubernetesConfig", {}).get("Labels", {})
        if group.get("ImageId", "default") != "default":
            assert got["CurrentImageId"] == group["ImageId"]
        elif "ImageReleaseVersion" in group:
            assert got["CurrentImageReleaseVersion"] == group["ImageReleaseVersion"]
    assert cluster.tags == {tag["Key"]: tag["Value"] for tag in wanted["Tags"]}


@given(old=INPUTS, new=INPUTS, unknowns=UNKNOWNS)
@settings(max_examples=25, deadline=None)
def test_an_update_gives_what_is_wanted(
    old: dict[str, Any], new: dict[str, Any], unknowns: Unknowns
) -> None:
    cluster = Deployed(old, unknowns)
    cluster.update(properties_of(new))
    cluster.settle()
    assert_is(cluster, new)
    cluster.sagemaker.calls.clear()
    cluster.update(properties_of(new) | {"WaitMinutes": "30"})
    assert cluster.sagemaker.writes == []


CANCELLED = st.tuples(INPUTS, st.integers(0, 4), st.booleans())


@given(
    first=INPUTS,
    cancelled=st.lists(CANCELLED, min_size=1, max_size=3),
    last=INPUTS,
    unknowns=UNKNOWNS,
)
@settings(max_examples=25, deadline=None)
def test_whatever_is_cancelled_the_last_request_gets_what_it_wants(
    first: dict[str, Any],
    cancelled: list[tuple[dict[str, Any], int, bool]],
    last: dict[str, Any],
    unknowns: Unknowns,
) -> None:
    # CloudFormation sends an Update only for properties that differ.
    assume(all(wanted != first for wanted, _, _ in cancelled) and last != first)
    cluster = Deployed(first, unknowns)
    for wanted, polls, retries in cancelled:
        cluster.cancel_update(properties_of(wanted), polls=polls, retries=retries)
        cluster.settle()
        assert_is(cluster, first)
    cluster.update(properties_of(last))
    cluster.settle()
    assert_is(cluster, last)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
ANY_GROUPS = st.lists(
    st.fixed_dictionaries(
        {"InstanceGroupName": st.sampled_from("abc"), "InstanceCount": st.integers(0, 9)},
        optional={
            "ImageId": st.text(max_size=3),
            **{
                key: ANY_JSON
                for key in (
                    "ExecutionRole",
                    "InstanceType",
                    "Other",
                    "OverrideVpcConfig",
                    "ThreadsPerCore",
                )
            },
        },
    ),
    unique_by=lambda group: group["InstanceGroupName"],
    max_size=3,
)
ANY_INPUT = st.fixed_dictionaries(
    {},
    optional={
        "InstanceGroups": ANY_GROUPS,
        "RestrictedInstanceGroups": ANY_GROUPS,
        **{key: ANY_JSON for key in ("VpcConfig", "NodeRecovery", "ClusterRole", "Unheard-of")},
    },
)


@given(old=ANY_INPUT, new=ANY_INPUT, now=ANY_INPUT, rolls_back=st.booleans())
@settings(max_examples=60, deadline=None)
def test_there_is_an_answer_to_everything(
    old: dict[str, Any], new: dict[str, Any], now: dict[str, Any], *, rolls_back: bool
) -> None:
    aim = Aim(wanted=new, former=old, rolls_back=rolls_back)
    back = Aim(wanted=old, former=new)
    notes = undone(noted(new), back, now) if rolls_back else noted(old)
    made = changes(aim, now, {}, notes)
    assert made == changes(aim, now, {}, notes)
    named = groups_of(made.update).keys() & set(made.update.get("InstanceGroupsToDelete", ()))
    assert not named
    unchanged = changes(Aim(wanted=new, former=new), now, {}, noted(new))
    has_groups = groups_of(new).keys() <= groups_of(now).keys()
    has_fields = all(now.get(key) == new[key] for key in UPDATABLE & new.keys())
    if has_groups and has_fields:
        assert (unchanged.update, unchanged.refusals) == ({}, ())

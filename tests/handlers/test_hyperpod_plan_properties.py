"""Whatever is planned: applied to the HyperPod service, it gives what was wanted."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.described import adoption, fitted
from provisioner.hyperpod.plan import Plan, plan
from rehearsal.hyperpod import Caller, HyperPodService
from tests.handlers.cloudformation import Time
from tests.handlers.local_sagemaker import LocalSageMaker

NAME = "ml-cluster"
ROLES = [f"arn:aws:iam::111122223333:role/execution-{name}" for name in "ab"]
ENOUGH = 1000.0
KUBERNETES = st.fixed_dictionaries(
    {"Labels": st.dictionaries(st.sampled_from(["team", "tier"]), st.sampled_from("xy"))}
)
GROUPS = st.dictionaries(
    st.sampled_from("abcde"),
    st.fixed_dictionaries(
        {"InstanceCount": st.integers(0, 4), "ExecutionRole": st.sampled_from(ROLES)},
        optional={
            "MinInstanceCount": st.just(0),
            "KubernetesConfig": KUBERNETES,
            "ThreadsPerCore": st.sampled_from([1, 2]),
            "ImageId": st.sampled_from(["ami-0123456789abcdef0", "default"]),
            "ImageReleaseVersion": st.sampled_from(["1.0.0", "2.1.0"]),
        },
    ),
    min_size=1,
)
TAGS = st.dictionaries(st.sampled_from(["team", "cost", "env"]), st.sampled_from("123"))
REQUESTS = st.fixed_dictionaries(
    {
        "groups": GROUPS,
        "tags": TAGS,
        "NodeRecovery": st.sampled_from(["Automatic", "None"]),
        "AutoScaling": st.sampled_from([None, "Enable"]),
        "TieredStorageConfig": st.sampled_from([None, 10, 20]),
    }
)


def request(made: dict[str, Any]) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "ClusterName": NAME,
        "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
        "NodeProvisioningMode": "Continuous",
        "NodeRecovery": made["NodeRecovery"],
        "ClusterRole": ROLES[0],
        "InstanceGroups": [
            {"InstanceGroupName": name, "InstanceType": "ml.m5.2xlarge", **more}
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


class Cluster:
    """A cluster in the service, changed through the provisioner's own calls."""

    def __init__(self, created_from: dict[str, Any]) -> None:
        self.time = Time()
        self.sagemaker = LocalSageMaker(service=HyperPodService(clock=lambda: self.time.now))
        self.api = HyperPodApi(
            sagemaker=self.sagemaker, name=NAME, clock=self.time.clock, patient=True
        )
        self.api.create(created_from, {})
        self.settle()
        self.sagemaker.calls.clear()

    def settle(self) -> None:
        self.time.now += ENOUGH

    @property
    def described(self) -> dict[str, Any]:
        return self.sagemaker.service.call("DescribeCluster", {"ClusterName": NAME}, Caller())

    @property
    def tags(self) -> dict[str, str]:
        return self.api.tags(self.described["ClusterArn"])

    def apply(self, changes: Plan) -> None:
        self.api.update(changes, self.described["ClusterArn"])
        self.settle()
        for call in changes.software:
            self.api.update_software(call)
            self.settle()


def assert_is(cluster: Cluster, wanted: dict[str, Any]) -> None:
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


@given(old=REQUESTS.map(request), new=REQUESTS.map(request))
@settings(max_examples=80, deadline=None)
def test_applying_a_plan_gives_what_is_wanted(old: dict[str, Any], new: dict[str, Any]) -> None:
    cluster = Cluster(old)
    changes = plan(old, new)
    assert changes.refusals == ()
    cluster.apply(changes)
    assert_is(cluster, new)
    assert plan(new, new).is_empty


@given(old=REQUESTS.map(request), new=REQUESTS.map(request), again=st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_fitted_plan_gives_the_same_and_nothing_twice(
    old: dict[str, Any], new: dict[str, Any], *, again: bool
) -> None:
    cluster = Cluster(old)
    changes = plan(old, new)
    cluster.apply(fitted(changes, cluster.described))
    if again:
        cluster.sagemaker.calls.clear()
        cluster.api.update(fitted(changes, cluster.described), cluster.described["ClusterArn"])
        assert "UpdateCluster" not in cluster.sagemaker.writes
    assert_is(cluster, new)


@given(wanted=REQUESTS.map(request))
@settings(max_examples=40, deadline=None)
def test_a_plan_for_nothing_makes_no_call(wanted: dict[str, Any]) -> None:
    cluster = Cluster(wanted)
    changes = plan(wanted, wanted)
    assert changes.is_empty
    cluster.apply(changes)
    assert adoption(cluster.described, cluster.tags, wanted).update == {}
    assert cluster.sagemaker.writes == []


@given(old=REQUESTS.map(request), new=REQUESTS.map(request))
@settings(max_examples=60, deadline=None)
def test_adopting_gives_what_is_wanted(old: dict[str, Any], new: dict[str, Any]) -> None:
    cluster = Cluster(old)
    changes = adoption(cluster.described, cluster.tags, new)
    assert changes.refusals == ()
    cluster.apply(changes)
    assert_is(cluster, new)


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
            **{key: ANY_JSON for key in ("OverrideVpcConfig", "InstanceType", "Other")},
        },
    ),
    unique_by=lambda group: group["InstanceGroupName"],
    max_size=3,
)
ANY_REQUEST = st.fixed_dictionaries(
    {},
    optional={
        "InstanceGroups": ANY_GROUPS,
        "RestrictedInstanceGroups": ANY_GROUPS,
        **{key: ANY_JSON for key in ("VpcConfig", "NodeRecovery", "ClusterRole", "Unheard-of")},
    },
)


@given(old=ANY_REQUEST, new=ANY_REQUEST, asked=st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_plan_is_total(old: dict[str, Any], new: dict[str, Any], *, asked: bool) -> None:
    changes = plan(old, new, software_update=asked)
    assert plan(old, new, software_update=asked) == changes
    assert not plan(new, new).changes_cluster or _ambiguous(new)


def _ambiguous(wanted: dict[str, Any]) -> bool:
    names = [
        group["InstanceGroupName"]
        for key in ("InstanceGroups", "RestrictedInstanceGroups")
        for group in wanted.get(key, [])
    ]
    return len(set(names)) != len(names)

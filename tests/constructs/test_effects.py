"""What sections say of changes, where nothing of theirs is asked about."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import hyperpod_cdk
from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.effects.sections import section_effects, sections
from hyperpod_cdk.helm.images import CHART_REGISTRIES
from hyperpod_cdk.schema.errors import key_path
from tests.conftest import Assemble, Configure

FOLDER = Path(str(hyperpod_cdk.__file__)).parent


def test_each_file_of_effects_is_asked() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/effects.py")} == {*sections()}


@pytest.mark.parametrize("resources", [None, [], {"C": None}, {"C": {"Type": "AWS::EKS::Cluster"}}])
def test_an_odd_template_has_no_effects(resources: object) -> None:
    state = StackState(template={"Resources": resources})
    assert [*section_effects(state, state)] == []


NOTHING = StackState(template={"Resources": {}})
SQS = "com.amazonaws.us-west-2.sqs"
KEPT_KEY = StackState(
    template={"Resources": {"E": {"Type": "AWS::KMS::Key", "DeletionPolicy": "Retain"}}}
)
BUCKET, REPOSITORY = "AWS::S3::Bucket", "AWS::ECR::Repository"
KEPT = [{"LifecyclePolicyText": f'{{"rules":[{{"countNumber":{each}}}]}}'} for each in (10, 5)]
BUILDS = [{"BuildSpec": f"--image-ids imageTag=gpu-{each}"} for each in (1, 2)]


def made(kind: str, **properties: object) -> StackState:
    return StackState(template={"Resources": {"E": {"Type": kind, "Properties": properties}}})


def eks(version: object) -> StackState:
    return made("AWS::EKS::Cluster", Version=version)


def domains(*names: str) -> StackState:
    return made("AWS::Route53Resolver::FirewallDomainList", Domains=[*names])


def images(kept: Mapping[str, str]) -> StackState:
    return made(REPOSITORY, LifecyclePolicy=kept)


def builds(source: Mapping[str, str]) -> StackState:
    return made("AWS::CodeBuild::Project", Source=source)


def database(**properties: object) -> StackState:
    return made("AWS::RDS::DBInstance", **{"MultiAZ": False, **properties})


@pytest.mark.parametrize(
    ("former", "wanted", "rules"),
    [
        (eks("1.34"), eks("1.35"), ["eks.version"]),
        (eks("1.34"), eks("1.34"), []),
        (eks(None), eks("1.35"), []),
        (made("AWS::EC2::VPCEndpoint", ServiceName=SQS), NOTHING, ["network.closed"]),
        (made("AWS::EC2::VPCEndpoint"), made("AWS::EC2::VPCEndpoint", ServiceName=SQS), []),
        (made("AWS::EC2::NatGateway", SubnetId="subnet-1"), NOTHING, ["network.nat-gateways"]),
        (KEPT_KEY, NOTHING, ["encryption.key-kept"]),
        (made("AWS::KMS::Key"), NOTHING, []),
        (made(BUCKET), made(BUCKET, BucketEncryption={}), ["encryption.lifecycle-bucket"]),
        (made(BUCKET), made(BUCKET, Tags=[]), []),
        (domains("a.com", "b.com"), domains("b.com", "c.com"), ["network.allowed-domains"] * 2),
        (domains("*"), NOTHING, []),
        (images(KEPT[0]), images(KEPT[1]), ["workloads.images-kept"]),
        (images({}), images(KEPT[1]), []),
        (builds(BUILDS[0]), builds(BUILDS[1]), ["workloads.image"]),
        (StackState(template={}), builds(BUILDS[1]), []),
        (database(), database(MultiAZ=True), ["slurm.accounting"]),
        (database(), database(MultiAZ=True, AllocatedStorage="40"), ["slurm.accounting"] * 2),
        (database(), NOTHING, []),
    ],
)
def test_what_a_section_says(former: StackState, wanted: StackState, rules: list[str]) -> None:
    found: list[Effect] = [*section_effects(former, wanted)]
    assert [each.rule for each in found] == rules


EDITOR = {
    "principals": ["arn:aws:iam::111122223333:role/Vision"],
    "namespaces": ["hyperpod-ns-vision"],
    "training_jobs": True,
}
TEAM = {"name": "vision", "quota": [{"instance_type": "ml.m5.2xlarge", "nodes": 1}]}
SUBNETS = [{"cidr": "10.1.0.0/16"}, {"cidr": "10.2.0.0/16"}]
CLAIMS = [{}, {"namespace": "vision"}]
# What is added to the default configuration, and the rules and places of what is said of it.
ADDED: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "editors": (
        {"eks": {"editors": [EDITOR]}},
        [
            ("eks.access", "eks.editors"),
            ("eks.access", "eks.editors"),
            ("eks.isolation", "eks.editors"),
        ],
    ),
    "viewers": (
        {"eks": {"viewers": ["arn:aws:iam::111122223333:user/eve"]}},
        [("eks.access", "eks.viewers")],
    ),
    "claims": ({"storage": {"claims": CLAIMS}}, [("storage.claim-new", "storage")]),
    "capacity": ({"storage": {"capacity_gib": 2400}}, [("storage.capacity", "storage")]),
    "governance": (
        {"teams": [TEAM], "governance": {}},
        [
            ("eks.isolation", "teams.vision"),
            ("storage.claim-new", "storage"),
            ("governance.team-new", "teams.vision"),
        ],
    ),
    "teams": (
        {"teams": [{"name": "vision", "directory": None, "viewers": EDITOR["principals"]}]},
        [("eks.access", "teams"), ("eks.isolation", "teams.vision")],
    ),
    "gateways": (
        {"network": {"nat_gateways": "single"}},
        [("network.nat-gateways", "network.nat_gateways")],
    ),
    "subnets": (
        {"network": {"hyperpod_subnets": SUBNETS}},
        [("network.hyperpod-subnets", "network.hyperpod_subnets")],
    ),
    "domains": (
        {"network": {"allowed_domains": [*CHART_REGISTRIES]}},
        [("network.allowed-domains", "network.allowed_domains")],
    ),
    "key": (
        {"encryption": {"create_kms_key": True}},
        [
            ("encryption.key-new", "encryption.create_kms_key"),
            ("encryption.logs", "encryption.logs"),
            ("encryption.lifecycle-bucket", "encryption.lifecycle_bucket"),
        ],
    ),
    "budget": (
        {"observability": {"budget": {"monthly_usd": 100, "emails": ["a@example.com"]}}},
        [("observability.budget", "observability.budget")],
    ),
}


def test_every_section_has_a_case() -> None:
    keys = {place.partition(".")[0] for _, rules in ADDED.values() for _, place in rules}
    others = {"governance", "hyperpod", "node_groups", "operators", "slurm", "workloads"}
    assert {*sections()} - keys == others, "add a row to ADDED"


@pytest.mark.parametrize("name", ADDED)
def test_each_section_says_what_its_change_does_and_takes_it_back(
    name: str, configure: Configure, assemble: Assemble, snapshot: SnapshotAssertion
) -> None:
    changes, expected = ADDED[name]
    templates = [assemble(configure(each)).templates() for each in ({}, changes)]
    said = [*_said(*templates)]
    back = [*_said(*reversed(templates))]
    own = [each for each in said if not each.rule.startswith(("eks.addon", "cluster.", "group."))]
    assert [(each.rule, key_path(each.place)) for each in own] == expected
    assert [each.text for each in (*said, *back)] == snapshot


def _said(former: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Effect]:
    for name in {**former, **wanted}:
        before, after = (StackState(template=each.get(name, {})) for each in (former, wanted))
        yield from section_effects(before, after)


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        (
            "metrics-server",
            ("operators", "metrics_server"),
            "the metrics server: removed. ",
        ),
        ("coredns", ("eks",), "add-on coredns: removed"),
        ("aws-fsx-csi-driver", (), "add-on aws-fsx-csi-driver: removed"),
    ],
)
def test_an_add_on_is_told_once_at_its_key(name: str, place: tuple[str, ...], words: str) -> None:
    (effect,) = section_effects(made("AWS::EKS::Addon", AddonName=name), NOTHING)
    assert (effect.rule, effect.place) == ("eks.addon-removed", place)
    assert effect.text.startswith(words)

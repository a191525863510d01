"""`hyperpod-cdk import-eksctl`: what becomes of each key, and nothing is dropped in silence."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.schema.section import Section
from hyperpod_cli.deliver.eksctl.importing import import_cluster_config
from hyperpod_cli.deliver.eksctl.reading import TABLE, Draft
from hyperpod_cli.terminal.errors import OpsError
from tests.support.assembly import merged
from tests.support.commands import ran

HEAD = {"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig"}
ZONES = ["us-west-2a", "us-west-2b"]
RESERVATION = "cr-0123456789abcdef0"
RAID0 = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec: {instance: {localStorage: {strategy: RAID0}}}
"""
SYSTEM = {"name": "sys", "instanceType": "c5.2xlarge", "desiredCapacity": 1}
GPU = {
    "name": "gpu",
    "instanceType": "p4d.24xlarge",
    "minSize": 0,
    "desiredCapacity": 2,
    "maxSize": 4,
    "volumeSize": 500,
    "availabilityZones": ["us-west-2b"],
    "privateNetworking": True,
    "efaEnabled": True,
    "overrideBootstrapCommand": RAID0,
    "nodeRepairConfig": {"enabled": True},
    "releaseVersion": "1.33.5-20251112",
    "capacityReservation": {"capacityReservationTarget": {"capacityReservationID": RESERVATION}},
    "labels": {"role": "train"},
    "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
}
P4D_ODCR = {
    **HEAD,
    "metadata": {"name": "eks-p4d-odcr", "region": "us-west-2", "version": "1.33"},
    "availabilityZones": ZONES,
    "managedNodeGroups": [SYSTEM, GPU],
}
"""The shape of the published samples."""


Import = Callable[[object], tuple[Config, dict[str, Any], str]]


@pytest.fixture
def imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Import:
    """Return what makes of a document a configuration, as it is written, and what is said."""

    def importing(document: object) -> tuple[Config, dict[str, Any], str]:
        source, output = tmp_path / "theirs.yaml", tmp_path / "mine.yaml"
        source.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        output.unlink(missing_ok=True)
        assert import_cluster_config(source, output=output) == 0
        written = yaml.safe_load(output.read_text("utf-8"))
        return load_config(output), written, capsys.readouterr().out

    return importing


Refuse = Callable[[str], list[str]]


@pytest.fixture
def refused(tmp_path: Path) -> Refuse:
    """Return what has a text refused, and nothing written; it returns the lines that say why."""

    def refusing(text: str) -> list[str]:
        source, output = tmp_path / "theirs.yaml", tmp_path / "mine.yaml"
        source.write_text(text, "utf-8")
        code, _, said = ran("import-eksctl", source, "--output", output)
        assert (code, output.exists()) == (2, False)
        return said.splitlines()

    return refusing


def test_a_published_sample_becomes_a_configuration(tmp_path: Path, imported: Import) -> None:
    config, written, said = imported(P4D_ODCR)

    assert (config.name, config.eks_cluster_name, config.eks.version) == (
        "eks-p4d-odcr",
        "eks-p4d-odcr",
        "1.33",
    )
    assert (written["cluster"], written["storage"]) == (None, None)
    assert written["network"]["nat_gateways"] == "single"
    assert config.network.hyperpod_zone_ids == tuple(ZONES)
    assert written["node_groups"] == [
        {
            "name": "sys",
            "instance_types": ["c5.2xlarge"],
            "desired_size": 1,
            "min_size": 1,
            "max_size": 1,
            "volume_size_gib": 80,
        },
        {
            "name": "gpu",
            "instance_types": ["p4d.24xlarge"],
            "desired_size": 2,
            "min_size": 0,
            "max_size": 4,
            "capacity_reservation_id": RESERVATION,
            "availability_zone_id": "us-west-2b",
            "volume_size_gib": 500,
            "efa": True,
            "raid0": True,
            "node_repair": True,
            "release_version": "1.33.5-20251112",
            "labels": {"role": "train"},
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
        },
    ]
    assert "Not carried:" not in said
    assert "availabilityZones: ['us-west-2b'] is a zone name" in said
    # Each comment is above what it is about.
    lines = (tmp_path / "mine.yaml").read_text("utf-8").splitlines()
    for about, key in (("# eksctl makes no file", "storage:"), ("# No HyperPod", "cluster:")):
        [at] = [number for number, line in enumerate(lines) if line.startswith(about)]
        below = next(line for line in lines[at:] if not line.startswith("#"))
        assert below.startswith(key)


ENDPOINTS = "vpc.clusterEndpoints"
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
ADMIN = {
    "principalARN": "arn:aws:iam::111122223333:role/A",
    "accessPolicies": [{"policyARN": POLICY, "accessScope": {"type": "cluster"}}],
}


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with values, by their keys from the top."""
    draft = Draft()
    for key, value in values.items():
        draft.set(tuple(key.split(".")), value, origin=())
    return draft.document


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"metadata.tags.team": "a"}, {"tags.team": "a"}),
        ({"accessConfig.accessEntries": [ADMIN]}, {"eks.admins": [ADMIN["principalARN"]]}),
        (
            {f"{ENDPOINTS}.privateAccess": True, f"{ENDPOINTS}.publicAccess": False},
            {"eks.endpoint_access": "private"},
        ),
        ({f"{ENDPOINTS}.privateAccess": True}, {"eks.endpoint_access": "public_and_private"}),
        ({f"{ENDPOINTS}.publicAccess": True}, {"eks.endpoint_access": "public"}),
        ({"vpc.nat.gateway": "HighlyAvailable"}, {"network.nat_gateways": "one_per_zone"}),
        (
            {"vpc.publicAccessCIDRs": ["203.0.113.0/24"]},
            {"eks.public_access_cidrs": ["203.0.113.0/24"]},
        ),
        ({"cloudWatch.clusterLogging.logRetentionInDays": 30}, {"log_retention_days": 30}),
        (
            {"addons": [{"name": "vpc-cni"}, {"name": "amazon-cloudwatch-observability"}]},
            {"observability.cloudwatch": {}},
        ),
        (
            {"vpc.cidr": "10.50.0.0/16"},
            {
                "network.vpc_cidr": "10.50.0.0/16",
                "network.public_subnet_cidrs": ["10.50.0.0/20", "10.50.16.0/20"],
            },
        ),
        (
            {"vpc.cidr": "10.50.0.0/20"},
            {
                "network.vpc_cidr": "10.50.0.0/20",
                "network.eks_subnet_cidrs": ["10.50.7.224/28", "10.50.7.240/28"],
            },
        ),
        (
            {"availabilityZones": [*ZONES, "us-west-2c"]},
            {"network.availability_zone_ids": [*ZONES, "us-west-2c"]},
        ),
    ],
)
def test_what_each_key_becomes(
    changes: Mapping[str, Any], expected: Mapping[str, Any], imported: Import
) -> None:
    _, written, said = imported(merged(P4D_ODCR, nested(changes)))
    assert merged(written, nested(expected)) == written
    assert "Not carried:" not in said


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"spot": True, "instanceTypes": ["g5.xlarge", "g5.2xlarge"]},
            {"capacity": "Spot", "instance_types": ["g5.xlarge", "g5.2xlarge"]},
        ),
        ({}, {"instance_types": ["m5.large"], "desired_size": 2, "min_size": 2, "max_size": 2}),
        ({"desiredCapacity": 0}, {"desired_size": 0, "min_size": 0, "max_size": 1}),
        ({"minSize": 1, "maxSize": 3}, {"desired_size": 1, "min_size": 1, "max_size": 3}),
        (
            {"taints": {"gpu": "true:NoSchedule", "x": ":NoExecute"}},
            {
                "taints": [
                    {"key": "gpu", "value": "true", "effect": "NoSchedule"},
                    {"key": "x", "effect": "NoExecute"},
                ]
            },
        ),
        (
            {
                "instanceType": "p5.48xlarge",
                "instanceMarketOptions": {"marketType": "capacity-block"},
                "capacityReservation": {
                    "capacityReservationTarget": {"capacityReservationID": RESERVATION}
                },
            },
            {"capacity": "CapacityBlock", "capacity_reservation_id": RESERVATION},
        ),
        ({"updateConfig": {"maxUnavailable": 2}}, {"max_unavailable": 2}),
    ],
)
def test_what_the_keys_of_a_group_become(
    changes: Mapping[str, Any], expected: Mapping[str, Any], imported: Import
) -> None:
    document = {**P4D_ODCR, "managedNodeGroups": [SYSTEM, {"name": "g", **changes}]}
    _, written, said = imported(document)
    group = written["node_groups"][1]
    assert {key: group.get(key) for key in expected} == expected
    assert "Not carried:" not in said


def test_subnets_of_a_vpc_that_exists(tmp_path: Path, imported: Import) -> None:
    ids = [f"subnet-0123456789abcdef{number}" for number in range(2)]
    private = {"one": {"id": ids[0]}, "us-west-2c": {"id": ids[1]}}
    document = merged(
        {**P4D_ODCR, "managedNodeGroups": [{**SYSTEM, "subnets": ["us-west-2c"]}]},
        {"vpc": {"id": "vpc-0123456789abcdef0", "subnets": {"private": private}}},
    )
    del document["availabilityZones"]

    config, written, said = imported(document)

    assert written["network"]["eks_subnet_ids"] == ids
    assert [each.subnet_id for each in config.network.hyperpod_subnets] == ids
    assert config.network.hyperpod_zone_ids == ("us-west-2a", "us-west-2c")
    assert config.node_groups[0].availability_zone_id == "us-west-2c"
    # The zone of the other one is a guess, which the file says where it stands.
    assert "us-west-2a stands" in said
    assert "us-west-2a\n" in (tmp_path / "mine.yaml").read_text("utf-8").replace(" ", "\n")


SUBNETS = {f"us-west-2{letter}": {"id": f"subnet-0123456789abcdef{letter}"} for letter in "abc"}


@pytest.mark.parametrize(
    ("vpc", "expected"),
    [
        ({"subnets": {"private": SUBNETS}}, "vpc.subnets.private: {"),
        ({"subnets": {"private": SUBNETS}}, "} needs vpc.id, which eksctl looks up"),
        ({"id": "vpc-0123456789abcdef0"}, "needs two subnets with their id in vpc.subnets.private"),
        (
            {
                "id": "vpc-0123456789abcdef0",
                "subnets": {"private": {**SUBNETS, "us-west-2d": {"id": "PLACEHOLDER"}}},
            },
            "vpc.subnets.private.us-west-2d: {'id': 'PLACEHOLDER'} is not carried: its id must be",
        ),
    ],
)
def test_what_is_missing_of_a_vpc_that_exists(
    vpc: Mapping[str, Any], expected: str, imported: Import
) -> None:
    document = {key: value for key, value in P4D_ODCR.items() if key != "availabilityZones"}
    document |= {"vpc": vpc, "managedNodeGroups": [{**SYSTEM, "subnets": ["us-west-2c"]}]}
    _, written, said = imported(document)
    assert expected in said
    is_used = "hyperpod_subnets" in written["network"]
    assert is_used == ("vpc_id" in written["network"])
    assert ("makes another VPC" in said) is not is_used
    # Without them, no group can be in one of them.
    assert ("it is none of the subnets that are carried" in said) is not is_used


def test_zones_are_by_id_where_a_name_may_be_of_one_that_eks_refuses(imported: Import) -> None:
    document = merged(P4D_ODCR, {"metadata": {"region": "us-east-1"}})
    document |= {"managedNodeGroups": [{**GPU, "availabilityZones": ["us-east-1d"]}]}
    del document["availabilityZones"]

    config, _, said = imported(document)

    assert config.network.zones == ("use1-az1", "use1-az2")
    assert config.node_groups[0].availability_zone_id == "use1-az1"
    assert "for which use1-az1 stands" in said


def test_where_every_group_is_tainted_one_is_not(imported: Import) -> None:
    config, _, said = imported({**P4D_ODCR, "managedNodeGroups": [GPU]})
    assert config.node_groups[0].taints == ()
    assert "must have one group without NoSchedule and NoExecute taints" in said


SAID = {
    "iam": {"withOIDC": True, "serviceAccounts": [{"metadata": {"name": "a"}}]},
    "addons": [
        {"name": "aws-fsx-csi-driver", "version": "latest"},
        {"name": "adot"},
        {"name": "aws-mountpoint-s3-csi-driver"},
    ],
    "cloudWatch": {"clusterLogging": {"enableTypes": ["*"]}},
    "nodeGroups": [{"name": "old", "instancesDistribution": {"maxPrice": 0.5}}],
    "privateCluster": {"enabled": True},
    "karpenter": {"version": "1.9.0"},
    "bogus": 1,
    "kubernetesNetworkConfig": {"ipFamily": "IPv6"},
}
SAID_OF_A_GROUP = {
    "preBootstrapCommands": ["dnf install -y lustre-client"],
    "overrideBootstrapCommand": "#!/bin/sh\n",
    "ssh": {"allow": True, "publicKeyName": "mine"},
    "iam": {"attachPolicyARNs": ["arn:aws:iam::aws:policy/A"], "withAddonPolicies": {"fsx": True}},
    "placement": {"groupName": "mine"},
    "capacityReservation": {"capacityReservationTarget": {"capacityReservationID": "PLACEHOLDER"}},
    "capacityReservationId": RESERVATION,
    "volumeType": "io2",
    "ami": "ami-0123456789abcdef0",
    "amiFamily": "Bottlerocket",
}


def test_every_key_that_is_not_carried_is_told(tmp_path: Path, imported: Import) -> None:
    document = {**P4D_ODCR, **SAID, "managedNodeGroups": [{**SYSTEM, **SAID_OF_A_GROUP}]}
    _, written, said = imported(document)

    keys = [
        *("iam.withOIDC", "iam.serviceAccounts", "addons[0] (aws-fsx-csi-driver).name"),
        *("addons[0] (aws-fsx-csi-driver).version", "addons[1] (adot).name"),
        "addons[2] (aws-mountpoint-s3-csi-driver).name",
        *("cloudWatch.clusterLogging.enableTypes", "nodeGroups", "privateCluster.enabled"),
        *("karpenter", "bogus", "kubernetesNetworkConfig.ipFamily"),
        *(
            f"managedNodeGroups[0] (sys).{key}"
            for key in (
                "preBootstrapCommands",
                "overrideBootstrapCommand",
                "ssh.allow",
                "ssh.publicKeyName",
                "iam.attachPolicyARNs",
                "iam.withAddonPolicies.fsx",
                "placement.groupName",
                "capacityReservation.capacityReservationTarget.capacityReservationID",
                "capacityReservationId",
                "volumeType",
                "ami",
                "amiFamily",
            )
        ),
    ]
    text = (tmp_path / "mine.yaml").read_text("utf-8")
    comments = " ".join(text.replace("#", " ").split())
    for key in keys:
        assert f": {key}: " in said, key
        assert f"{key}: " in comments, key
    assert "did you mean capacityReservationID?" in said
    assert "capacity_reservation_id" not in written["node_groups"][0]
    # Its role here reads no bucket of theirs.
    assert "s3_csi_driver" not in written.get("operators", {})


PLACEHOLDERS = {
    "metadata": {"name": "x", "region": "PLACEHOLDER_AWS_REGION", "version": "1.28"},
    "availabilityZones": ["PLACEHOLDER_AZ_1", "PLACEHOLDER_AZ_2"],
    "vpc": {"id": "PLACEHOLDER_VPC_ID", "subnets": {"private": {"one": {"id": "PLACEHOLDER"}}}},
}


def test_what_a_sample_leaves_to_its_user_is_to_decide(imported: Import) -> None:
    block = {
        "instanceType": "p5.48xlarge",
        "instanceMarketOptions": {"marketType": "capacity-block"},
    }
    document = {**P4D_ODCR, **PLACEHOLDERS, "managedNodeGroups": [SYSTEM, {"name": "p5", **block}]}
    config, written, said = imported(document)

    assert "network" not in written or "vpc_id" not in written["network"]
    assert config.region is None
    assert [group["name"] for group in written["node_groups"]] == ["sys", "p5"]
    _, _, decisions = said.partition("Decide first, where the file has a comment:")
    decisions, _, commands = decisions.partition("Next:")
    assert "make deploy" in commands
    for key in ("metadata.region", "metadata.version", "vpc.id", "marketType"):
        assert key in decisions


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["a", SYSTEM], ["managedNodeGroups[0]: 'a' is not carried: it must be a mapping"]),
        ([SYSTEM, "a"], ["managedNodeGroups[1]: 'a' is not carried: it must be a mapping"]),
        (
            [{"name": "a", "instanceType": "m5.lrge"}, SYSTEM],
            [
                "managedNodeGroups[0] (a).instanceType: 'm5.lrge' is not an EC2 instance type",
                "is left out: instance_types is missing and has no default",
            ],
        ),
        (
            [{**SYSTEM, "availabilityZones": [5]}],
            ["availabilityZones: [5] must be text; write it in quotes"],
        ),
    ],
)
def test_a_group_that_is_none_leaves_the_others(
    groups: list[object], expected: list[str], imported: Import
) -> None:
    _, written, said = imported({**P4D_ODCR, "managedNodeGroups": groups})
    assert [group["name"] for group in written["node_groups"]] == ["sys"]
    for line in expected:
        assert line in said
    # What is gone leaves nothing else to decide.
    assert "name: is missing" not in said
    assert "[5] is a zone name" not in said


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"vpc": 5}, "vpc: 5 is not carried: it must be a mapping of keys to values"),
        ({"addons": {"a": 1}}, "addons: {'a': 1} is not carried: it must be a list"),
        ({"vpc": {"nat": {"gateway": "x"}}}, "it must be Single, HighlyAvailable or Disable"),
        ({"vcp": {}}, "vcp: {} is not carried: this is no key of eksctl that is known here"),
    ],
)
def test_a_value_of_another_type_is_told_apart_from_a_key_that_is_unknown(
    changes: Mapping[str, Any], expected: str, imported: Import
) -> None:
    _, _, said = imported({**P4D_ODCR, **changes})
    assert expected in said


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"managedNodeGroups": [{"name": "a", "instanceType": "m5.lrge"}]},
            ["(a).instanceType: 'm5.lrge' is not an EC2", "(a): {", "no group can be carried"],
        ),
        (
            {"managedNodeGroups": {"a": {}}},
            ["managedNodeGroups: {'a': {}} is not carried: it must be a list", "no group can be"],
        ),
        (
            {"managedNodeGroups": [{"name": "a", "minSize": -1}]},
            ["(a).minSize: -1 must be 0 to 450", "(a): {", "no group can be carried"],
        ),
        ({"managedNodeGroups": []}, ["managedNodeGroups: no group can be carried; list one"]),
        (
            {"managedNodeGroups": None, "nodeGroups": [{"name": "a"}]},
            ["nodeGroups: [{'name': 'a'}] is not carried: these are self-managed", "no group can"],
        ),
    ],
)
def test_where_no_group_is_left_each_reason_is_a_line(
    changes: Mapping[str, Any], expected: list[str], refused: Refuse
) -> None:
    lines = refused(yaml.safe_dump({**P4D_ODCR, **changes}))
    for line, part in zip(lines, expected, strict=True):
        assert part in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; give an eksctl ClusterConfig"),
        ("[1, 2]", "must be a mapping of keys to values, as a ClusterConfig is"),
        ("kind: Pod\napiVersion: v1", "1: kind: 'Pod' must be ClusterConfig"),
        ("kind: ClusterConfig\napiVersion: eksctl.io/v1alpha4", "apiVersion: 'eksctl.io/v1alpha4'"),
        ("a: [", "YAML syntax error"),
        (yaml.safe_dump({**HEAD, "managedNodeGroups": []}), "metadata.name: is missing"),
    ],
)
def test_what_is_no_cluster_config_is_one_line(text: str, said: str, refused: Refuse) -> None:
    [line] = refused(text)
    assert said in line


def test_files_that_are_missing_or_in_the_way(tmp_path: Path) -> None:
    source, output = tmp_path / "theirs.yaml", tmp_path / "mine.yaml"
    said = ran("import-eksctl", source, "--output", output)
    assert (said.code, "cannot be read: No such file or directory" in said.err) == (2, True)
    source.write_text(yaml.safe_dump(P4D_ODCR), "utf-8")
    output.write_text("mine", "utf-8")
    said = ran("import-eksctl", source, "--output", output)
    assert said.code == 2
    assert "exists and is not overwritten; write another file with --output" in said.err
    assert output.read_text("utf-8") == "mine"


@pytest.mark.parametrize("row", [row for row in TABLE if row.ours], ids=lambda row: row.key)
def test_the_table_names_keys_that_there_are(row: Any) -> None:  # noqa: ANN401 - a row
    for path in row.ours.split(", "):
        section: Any = Config
        whole = path if "." in path or path in Config.model_fields else f"node_groups[].{path}"
        for part in whole.split("."):
            name = part.removesuffix("[]")
            assert name in section.model_fields, path
            section = _section(section.model_fields[name].annotation)


def _section(annotation: Any) -> Any:  # noqa: ANN401 - a type
    """Return the section that the value of a field is, or of which it has several."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    inner = (_section(each) for each in getattr(annotation, "__args__", ()))
    return next((each for each in inner if each is not None), None)


@pytest.mark.slow(seconds=4)
def test_whatever_the_values_are_nothing_breaks(tmp_path: Path, imported: Import) -> None:
    """Each value of a file with much in it, in turn of another kind."""
    whole = merged({**P4D_ODCR, **SAID}, {"vpc": {"cidr": "10.0.0.0/16", "nat": {"gateway": "x"}}})
    whole["managedNodeGroups"] = [GPU, {**SYSTEM, **SAID_OF_A_GROUP}]
    for path in sorted(_places(whole, ()), key=str)[::6]:
        for other in (None, "x", [{"name": 1}]):
            document = copy.deepcopy(whole)
            parent: Any = document
            for step in path[:-1]:
                parent = parent[step]
            parent[path[-1]] = other
            try:
                imported(document)
            except OpsError as refused:
                assert all(line.startswith(f"{tmp_path}") for line in refused.lines)


def _places(value: object, path: tuple[Any, ...]) -> set[tuple[Any, ...]]:
    if isinstance(value, dict):
        below = [_places(each, (*path, key)) for key, each in value.items()]
    elif isinstance(value, list):
        below = [_places(each, (*path, index)) for index, each in enumerate(value)]
    else:
        below = []
    return set().union({path} if path else set(), *below)

"""Rules on keys, types and everything but the network: one mistake, one line."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.configs import default_document
from tests.support.refusals import line_after, lines_for

GROUP = "cluster.instance_groups[0]"
KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
ROLE = "arn:aws:iam::111122223333:role/Admin"


def groups(*names: str) -> list[dict[str, object]]:
    return [{"name": n, "instance_type": "ml.m5.large", "instance_count": 1} for n in names]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        # keys
        ("nmae", 1),
        ("network.vpc_cird", "x"),
        (f"{GROUP}.instance_typ", "x"),
        ("network.hyperpod_subnets[0].zone", "x"),
        # values of several keys, in YAML's words
        ("region", [None, {"a": True}]),
        # types
        ("network", "x"),
        ("network", None),
        ("network.public_subnet_cidrs", "10.192.10.0/24"),
        ("tags", []),
        ("tags", {7: "x"}),
        ("tags.cost", 42),
        ("eks.endpoint_access", None),
        ("eks.deletion_protection", "no"),
        (f"{GROUP}.instance_count", "1"),
        (f"{GROUP}.instance_count", True),
        (f"{GROUP}.instance_count", 1.0),
        (f"{GROUP}.labels", None),
        ("cluster.instance_groups", None),
        ("cluster.instance_groups[0]", None),
        # characters
        ("tags.team", "a\x7f"),
        ("tags", {"a\x07": "b"}),
        ("helm.values.a", "\x00"),
        # name and region
        ("name", "ML"),
        ("name", ""),
        ("name", "a" * 21),
        ("name", "1a"),
        ("name", "a-"),
        ("name", "a\n"),
        ("region", "us-west2"),
        # EKS
        ("eks.version", "1.29"),
        ("eks.version", "1.36"),
        ("eks.version", 1.3),
        ("eks.deletion_protection", "true"),
        (f"{GROUP}.instance_type", "ML.G5.12XLARGE"),
        ("eks.public_access_cidrs[0]", "52.1.2.3"),
        ("eks.endpoint_access", "privat"),
        ("eks.public_access_cidrs", []),
        ("eks.public_access_cidrs", [f"52.{n}.0.0/16" for n in range(41)]),
        ("eks.public_access_cidrs[0]", "52.0.0.1/16"),
        ("eks.public_access_cidrs[0]", "10.1.0.0/16"),
        ("eks.public_access_cidrs[1]", "0.0.0.0/0"),
        ("eks.admins[0]", "Admin"),
        ("eks.admins[0]", "arn:aws:iam::111122223333:root"),
        ("eks.admins[0]", "arn:aws:sts::111122223333:assumed-role/A/me"),
        ("eks.admins[0]", ROLE.replace("aws", "aws-cn")),
        ("eks.secrets_kms_key_arn", "alias/key"),
        ("eks.secrets_kms_key_arn", KEY),
        # storage
        ("storage.capacity_gib", 0),
        ("storage.capacity_gib", -2400),
        ("storage.compression", "lz4"),
        ("storage.availability_zone_id", "usw2-az1"),
        # helm
        ("helm.release", "Hyperpod"),
        ("helm.release", "a" * 54),
        ("helm.namespace", "kube_system"),
        ("helm.namespace", "a" * 64),
        ("helm.chart", "missing.tgz"),
        ("helm.chart", "a\nb.tgz"),
        ("helm.chart", "a" * 300),
        ("helm.wait_for_ready_minutes", 46),
        ("helm.wait_for_ready_minutes", -1),
        ("helm.values", {1: 2}),
        # cluster
        ("cluster.name", "ml_cluster"),
        ("cluster.name", "ml-"),
        ("cluster.name", "a" * 64),
        ("cluster.node_recovery", "automatic"),
        ("cluster.node_provisioning_mode", "Classic"),
        ("cluster.instance_groups", []),
        ("cluster.instance_groups", groups(*(f"g{n}" for n in range(101)))),
        ("cluster.instance_groups[1].name", "worker-group-1"),
        (f"{GROUP}.name", "worker_1"),
        (f"{GROUP}.name", "a" * 64),
        (f"{GROUP}.instance_type", "g5.12xlarge"),
        (f"{GROUP}.instance_count", -1),
        (f"{GROUP}.instance_count", 6759),
        (f"{GROUP}.volume_size_gib", 0),
        (f"{GROUP}.volume_size_gib", 16385),
        (f"{GROUP}.threads_per_core", 3),
        (f"{GROUP}.deep_health_checks[0]", "InstanceStres"),
        (f"{GROUP}.deep_health_checks[1]", "InstanceStress"),
        # tags
        ("tags", {f"k{n}": "v" for n in range(51)}),
        (f"tags.{'k' * 129}", "v"),
        ("tags.k", "v" * 257),
        ("tags.k", "a;b"),
    ],
)
def test_mistake_gives_one_line(path: str, value: object, snapshot: SnapshotAssertion) -> None:
    line = line_after(path, value)

    assert line.startswith(f"{path}: ")
    assert line == snapshot


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("slurm", {}, "slurm"),
        ("eks.node_groups", [], "eks.node_groups"),
        (
            "node_groups",
            [
                {
                    "name": "a",
                    "instance_types": ["m5.large"],
                    "desired_size": 1,
                    "availability_zone_id": "usw2-az4",
                }
            ],
            "node_groups[0].availability_zone_id",
        ),
        ("odd key", 1, "['odd key']"),
        ("tags", {"": "v"}, "tags['']"),
        ("tags", {"AWS:k": "v"}, "tags['AWS:k']"),
        ("helm.adopt_namespaces", ["a_b"], "helm.adopt_namespaces[0]"),
        ("helm.values", {"a": {"b": [float("inf")]}}, "helm.values.a.b[0]"),
        ("eks.admins", [ROLE, ROLE], "eks.admins[1]"),
        (
            "eks",
            {"endpoint_access": "public", "public_access_cidrs": ["52.0.0.0/16"]},
            "eks.public_access_cidrs",
        ),
        ("storage.i_understand_all_files_are_deleted", True, "storage.delete_with_stack"),
        (f"{GROUP}.instance_type", "ml.m5.large", f"{GROUP}.deep_health_checks"),
    ],
)
def test_line_names_the_place_of_the_fault(
    path: str, value: object, place: str, snapshot: SnapshotAssertion
) -> None:
    line = line_after(path, value)

    assert line.startswith(f"{place}: ")
    assert line == snapshot


def test_required_keys(snapshot: SnapshotAssertion) -> None:
    document = default_document()
    del document["name"], document["cluster"]
    deeper = default_document()
    deeper["cluster"]["instance_groups"] = [{"name": "g"}]

    assert lines_for(document) + lines_for(deeper) == snapshot


def test_all_mistakes_are_reported_at_once() -> None:
    document = default_document()
    document["nmae"] = 1
    document["network"]["vpc_cidr"] = "10.192.0.1/16"
    document["network"]["availability_zone_ids"][0] = "use1-az1"
    document["eks"]["version"] = "1.2"
    document["cluster"]["instance_groups"][0]["name"] = "worker-group-2"
    document["cluster"]["instance_groups"][0]["instance_type"] = "ml.m5.huge"
    document["tags"] = {"aws:x": "y"}

    assert sorted(line.split(": ")[0] for line in lines_for(document)) == [
        "cluster.instance_groups[0].instance_type",
        "cluster.instance_groups[1].name",
        "eks.version",
        "network.availability_zone_ids[0]",
        "network.vpc_cidr",
        "nmae",
        "tags['aws:x']",
    ]

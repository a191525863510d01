"""Rules on an instance group: one mistake, one line."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.configs import (
    DATA,
    DNS,
    KEY,
    LUSTRE,
    PLAN,
    ROOT,
    SUBNET,
    default_document,
    mounts,
)
from tests.support.refusals import line_after, lines_for

GROUP = "cluster.instance_groups[0]"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        # types, counts, capacity
        ("instance_types", ["g5.xlarge"]),
        ("instance_types", ["ml.g5.xlarge"] * 2),
        ("instance_type", None),
        ("min_instance_count", 2),
        ("min_instance_count", -1),
        ("capacity", "spot"),
        ("training_plan_arn", "p5_a"),
        ("training_plan_arn", f"{KEY}-5678"),
        ("training_plan_arn", PLAN + "*"),
        ("training_plan_arn", PLAN.replace("west", "east")),
        ("training_plan_arn", PLAN.replace(":aws:", ":aws-cn:")),
        # network
        ("availability_zone_id", "usw2-az1"),
        ("availability_zone_id", "us-west-2a"),
        ("override_vpc", {}),
        ("override_vpc", {"subnet_ids": []}),
        ("override_vpc", {"subnet_ids": ["x"]}),
        (
            "override_vpc",
            {"subnet_ids": [SUBNET], "security_group_ids": ["subnet-0123456789abcdef0"]},
        ),
        (
            "override_vpc",
            {"subnet_ids": [SUBNET], "security_group_ids": [f"sg-1234567{n}" for n in range(6)]},
        ),
        ("network_interface_type", "ena"),
        # storage
        # lifecycle, roles
        ("lifecycle", {"on_create": "x.sh"}),
        ("lifecycle", {"source_s3_uri": "s3://bucket/scripts"}),
        (
            "lifecycle",
            {"source_s3_uri": "s3://bucket/scripts", "on_create": "a", "on_init_complete": "b"},
        ),
        *(
            ("lifecycle", {"source_s3_uri": uri, "on_create": "a"})
            for uri in (
                "s3://bucket",
                "s3://bucket/",
                "s3://bucket/..",
                "s3://bucket/a/../b",
                "s3://bucket/./a",
                "s3://bucket/a//b",
                "s3://bucket/a b",
                "s3://bucket/$(id)",
                "s3://bucket/a;id",
                "s3://bucket/*",
                "https://bucket/x",
            )
        ),
        *(
            ("lifecycle", {"source_s3_uri": "s3://bucket/scripts", "on_create": script})
            for script in ("../x.sh", "a/../../x.sh", "/x.sh", "a//x.sh", "x.sh -y", "`id`", ".")
        ),
        ("lifecycle", {"source_s3_uri": "s3://bucket/scripts", "on_create": "x" * 129}),
        ("execution_role_arn", "Nodes"),
        # images
        ("image_id", "ami-xyz12345"),
        ("image_release_version", "1.2"),
        # Kubernetes
        ("labels", {"a b": "x"}),
        ("labels", {"a": "x y"}),
        ("labels", {"a": "x" * 64}),
        ("labels", {f"k{n}": "v" for n in range(51)}),
        ("taints", [{"key": "a"}]),
        ("taints", [{"key": "a", "effect": "NoExec"}]),
        ("taints", [{"key": "-a", "effect": "NoExecute"}]),
        ("taints", [{"key": "a", "effect": "NoExecute"}] * 2),
        ("taints", [{"key": "a", "effect": "NoExecute", "value": "-"}]),
    ],
)
def test_mistake_in_a_group(path: str, value: object, snapshot: SnapshotAssertion) -> None:
    line = line_after(f"{GROUP}.{path}", value)

    # At the key or below it: where exactly stands in the snapshot, with the words.
    assert line.startswith(f"{GROUP}.{path}")
    assert line == snapshot


@pytest.mark.parametrize(
    ("group", "start"),
    [
        ({"instance_types": ["ml.g5.xlarge"]}, "instance_type"),
        ({"volume_size_gib": 100, "ebs_volumes": [DATA]}, "volume_size_gib"),
        ({"ebs_volumes": [{}]}, "ebs_volumes[0].volume_size_gib"),
        ({"ebs_volumes": [{"root_volume": True}]}, "ebs_volumes[0].kms_key_id"),
        ({"ebs_volumes": [{**ROOT, **DATA}]}, "ebs_volumes[0].volume_size_gib"),
        ({"ebs_volumes": [ROOT, {**ROOT, "kms_key_id": "k"}]}, "ebs_volumes[1]"),
        ({"ebs_volumes": [DATA, {**DATA, "kms_key_id": "k"}]}, "ebs_volumes[1]"),
        ({"ebs_volumes": [{**DATA, "kms_key_id": "alias/volumes"}]}, "ebs_volumes[0].kms_key_id"),
        (
            {"ebs_volumes": [{**DATA, "kms_key_id": KEY.replace("us-west-2", "eu-west-1")}]},
            "ebs_volumes[0].kms_key_id",
        ),
        ({"fsx_lustre_mounts": [{"dns_name": DNS}]}, "fsx_lustre_mounts[0].mount_name"),
        (
            {"fsx_lustre_mounts": [{**LUSTRE, "dns_name": "files.example.com"}]},
            "fsx_lustre_mounts[0].dns_name",
        ),
        (
            {"fsx_lustre_mounts": [{**LUSTRE, "mount_name": "too-long-name"}]},
            "fsx_lustre_mounts[0].mount_name",
        ),
        (
            {"fsx_openzfs_mounts": [{"dns_name": DNS, "mount_path": "files"}]},
            "fsx_openzfs_mounts[0].mount_path",
        ),
        ({"fsx_lustre_mounts": mounts(4)}, "fsx_lustre_mounts"),
        ({"fsx_lustre_mounts": mounts(5)}, "fsx_lustre_mounts"),
        (
            {"availability_zone_id": "usw2-az2", "override_vpc": {"subnet_ids": [SUBNET]}},
            "availability_zone_id",
        ),
        (
            {
                "instance_type": None,
                "instance_types": ["ml.g5.xlarge", "ml.m5.large"],
                "deep_health_checks": ["InstanceStress"],
            },
            "deep_health_checks",
        ),
        (
            {"instance_type": None, "instance_types": [f"ml.c5.{n}xlarge" for n in range(21)]},
            "instance_types",
        ),
    ],
)
def test_mistake_between_the_fields_of_a_group(
    group: dict[str, object], start: str, snapshot: SnapshotAssertion
) -> None:
    document = default_document()
    base = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
    document["cluster"]["instance_groups"] = [base | group]

    line = lines_for(document)[0]

    assert line.startswith(f"{GROUP}.{start}")
    assert line == snapshot

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
    ("path", "value", "start"),
    [
        # types, counts, capacity
        ("instance_types", ["ml.g5.xlarge"], "instance_type"),
        ("instance_types", ["g5.xlarge"], "instance_types[0]"),
        ("instance_types", ["ml.g5.xlarge"] * 2, "instance_types[1]"),
        ("instance_type", None, "instance_type"),
        ("min_instance_count", 2, "min_instance_count"),
        ("min_instance_count", -1, "min_instance_count"),
        ("capacity", "spot", "capacity"),
        ("training_plan_arn", "p5_a", "training_plan_arn"),
        ("training_plan_arn", f"{KEY}-5678", "training_plan_arn"),
        ("training_plan_arn", PLAN + "*", "training_plan_arn"),
        ("training_plan_arn", PLAN.replace("west", "east"), "training_plan_arn"),
        ("training_plan_arn", PLAN.replace(":aws:", ":aws-cn:"), "training_plan_arn"),
        # network
        ("availability_zone_id", "usw2-az1", "availability_zone_id"),
        ("availability_zone_id", "us-west-2a", "availability_zone_id"),
        ("override_vpc", {}, "override_vpc.subnet_ids"),
        ("override_vpc", {"subnet_ids": []}, "override_vpc.subnet_ids"),
        ("override_vpc", {"subnet_ids": ["x"]}, "override_vpc.subnet_ids[0]"),
        (
            "override_vpc",
            {"subnet_ids": [SUBNET], "security_group_ids": ["subnet-0123456789abcdef0"]},
            "override_vpc.security_group_ids[0]",
        ),
        (
            "override_vpc",
            {"subnet_ids": [SUBNET], "security_group_ids": [f"sg-1234567{n}" for n in range(6)]},
            "override_vpc.security_group_ids",
        ),
        ("network_interface_type", "ena", "network_interface_type"),
        # storage
        ("ebs_volumes", [DATA], "volume_size_gib"),
        # lifecycle, roles
        ("lifecycle", {"on_create": "x.sh"}, "lifecycle.source_s3_uri"),
        ("lifecycle", {"source_s3_uri": "s3://bucket/scripts"}, "lifecycle.on_create"),
        (
            "lifecycle",
            {"source_s3_uri": "s3://bucket/scripts", "on_create": "a", "on_init_complete": "b"},
            "lifecycle.on_init_complete",
        ),
        *(
            ("lifecycle", {"source_s3_uri": uri, "on_create": "a"}, "lifecycle.source_s3_uri")
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
            (
                "lifecycle",
                {"source_s3_uri": "s3://bucket/scripts", "on_create": script},
                "lifecycle.on_create",
            )
            for script in ("../x.sh", "a/../../x.sh", "/x.sh", "a//x.sh", "x.sh -y", "`id`", ".")
        ),
        (
            "lifecycle",
            {"source_s3_uri": "s3://bucket/scripts", "on_create": "x" * 129},
            "lifecycle.on_create",
        ),
        ("execution_role_arn", "Nodes", "execution_role_arn"),
        # images
        ("image_id", "ami-xyz12345", "image_id"),
        ("image_release_version", "1.2", "image_release_version"),
        # Kubernetes
        ("labels", {"a b": "x"}, "labels['a b']"),
        ("labels", {"a": "x y"}, "labels.a"),
        ("labels", {"a": "x" * 64}, "labels.a"),
        ("labels", {f"k{n}": "v" for n in range(51)}, "labels"),
        ("taints", [{"key": "a"}], "taints[0].effect"),
        ("taints", [{"key": "a", "effect": "NoExec"}], "taints[0].effect"),
        ("taints", [{"key": "-a", "effect": "NoExecute"}], "taints[0].key"),
        ("taints", [{"key": "a", "effect": "NoExecute"}] * 2, "taints[1]"),
        ("taints", [{"key": "a", "effect": "NoExecute", "value": "-"}], "taints[0].value"),
    ],
)
def test_mistake_in_a_group(
    path: str, value: object, start: str, snapshot: SnapshotAssertion
) -> None:
    line = line_after(f"{GROUP}.{path}", value)

    assert line.startswith(f"{GROUP}.{start}: ")
    assert line == snapshot


@pytest.mark.parametrize(
    ("group", "start"),
    [
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

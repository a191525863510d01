"""Rules on an instance group: one mistake, one line."""

import pytest

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
    ("path", "value", "start", "message"),
    [
        # types, counts, capacity
        ("instance_types", ["ml.g5.xlarge"], "instance_type", "must be left out with instance_t"),
        ("instance_types", ["g5.xlarge"], "instance_types[0]", "did you mean ml.g5.xlarge?"),
        ("instance_types", ["ml.g5.xlarge"] * 2, "instance_types[1]", "is listed twice"),
        ("instance_type", None, "instance_type", "is missing and has no default"),
        ("min_instance_count", 2, "min_instance_count", "must be at most instance_count (1)"),
        ("min_instance_count", -1, "min_instance_count", "must be 0 to 6758"),
        ("capacity", "spot", "capacity", "did you mean Spot? (allowed: OnDemand, Spot)"),
        ("training_plan_arn", "p5_a", "training_plan_arn", "must be the name or the ARN of a"),
        ("training_plan_arn", f"{KEY}-5678", "training_plan_arn", "must be the name or"),
        ("training_plan_arn", PLAN + "*", "training_plan_arn", "must be the name or"),
        ("training_plan_arn", PLAN.replace("west", "east"), "training_plan_arn", "of region us-w"),
        ("training_plan_arn", PLAN.replace(":aws:", ":aws-cn:"), "training_plan_arn", "partition"),
        # network
        ("availability_zone_id", "usw2-az1", "availability_zone_id", "subnet's zone (usw2-az2)"),
        (
            "availability_zone_id",
            "us-west-2a",
            "availability_zone_id",
            "must be a HyperPod subnet's zone",
        ),
        ("override_vpc", {}, "override_vpc.subnet_ids", "is missing"),
        ("override_vpc", {"subnet_ids": []}, "override_vpc.subnet_ids", "must list 1 to 16 subne"),
        ("override_vpc", {"subnet_ids": ["x"]}, "override_vpc.subnet_ids[0]", "a subnet's ID"),
        (
            "override_vpc",
            {"subnet_ids": [SUBNET], "security_group_ids": ["subnet-0123456789abcdef0"]},
            "override_vpc.security_group_ids[0]",
            "must be a security group's ID",
        ),
        (
            "override_vpc",
            {"subnet_ids": [SUBNET], "security_group_ids": [f"sg-1234567{n}" for n in range(6)]},
            "override_vpc.security_group_ids",
            "must list 0 to 5 security groups",
        ),
        ("network_interface_type", "ena", "network_interface_type", "(allowed: efa, efa-only)"),
        # storage
        ("ebs_volumes", [DATA], "volume_size_gib", "must be left out with ebs_volumes"),
        # lifecycle, roles
        ("lifecycle", {"on_create": "x.sh"}, "lifecycle.source_s3_uri", "is missing: say where"),
        (
            "lifecycle",
            {"source_s3_uri": "s3://bucket/scripts"},
            "lifecycle.on_create",
            "is missing: name the script",
        ),
        (
            "lifecycle",
            {"source_s3_uri": "s3://bucket/scripts", "on_create": "a", "on_init_complete": "b"},
            "lifecycle.on_init_complete",
            "must be left out with on_create",
        ),
        *(
            (
                "lifecycle",
                {"source_s3_uri": uri, "on_create": "a"},
                "lifecycle.source_s3_uri",
                "must be an S3 URI with a prefix",
            )
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
                "must be a path such as on_create.sh",
            )
            for script in ("../x.sh", "a/../../x.sh", "/x.sh", "a//x.sh", "x.sh -y", "`id`", ".")
        ),
        (
            "lifecycle",
            {"source_s3_uri": "s3://bucket/scripts", "on_create": "x" * 129},
            "lifecycle.on_create",
            "must be 1 to 128 characters",
        ),
        ("execution_role_arn", "Nodes", "execution_role_arn", "must be the ARN of an IAM"),
        # images
        ("image_id", "ami-xyz12345", "image_id", "the API's pattern for an AMI"),
        ("image_release_version", "1.2", "image_release_version", "a HyperPod AMI release such as"),
        # Kubernetes
        ("labels", {"a b": "x"}, "labels['a b']", "the API's pattern for a label's key"),
        ("labels", {"a": "x y"}, "labels.a", "the API's pattern for a label's value"),
        ("labels", {"a": "x" * 64}, "labels.a", "must be 1 to 63 characters"),
        ("labels", {f"k{n}": "v" for n in range(51)}, "labels", "must be 0 to 50"),
        ("taints", [{"key": "a"}], "taints[0].effect", "is missing"),
        ("taints", [{"key": "a", "effect": "NoExec"}], "taints[0].effect", "mean NoExecute?"),
        ("taints", [{"key": "-a", "effect": "NoExecute"}], "taints[0].key", "a taint's key"),
        ("taints", [{"key": "a", "effect": "NoExecute"}] * 2, "taints[1]", "is listed twice"),
        (
            "taints",
            [{"key": "a", "effect": "NoExecute", "value": "-"}],
            "taints[0].value",
            "the API's pattern for a taint's value",
        ),
    ],
)
def test_mistake_in_a_group(path: str, value: object, start: str, message: str) -> None:
    line = line_after(f"{GROUP}.{path}", value)

    assert line.startswith(f"{GROUP}.{start}: ")
    assert message in line


@pytest.mark.parametrize(
    ("group", "start", "message"),
    [
        ({"ebs_volumes": [{}]}, "ebs_volumes[0].volume_size_gib", "is missing: a volume that is"),
        ({"ebs_volumes": [{"root_volume": True}]}, "ebs_volumes[0].kms_key_id", "is missing"),
        ({"ebs_volumes": [{**ROOT, **DATA}]}, "ebs_volumes[0].volume_size_gib", "HyperPod decides"),
        ({"ebs_volumes": [ROOT, {**ROOT, "kms_key_id": "k"}]}, "ebs_volumes[1]", "one root volume"),
        ({"ebs_volumes": [DATA, {**DATA, "kms_key_id": "k"}]}, "ebs_volumes[1]", "one second volu"),
        (
            {"ebs_volumes": [{**DATA, "kms_key_id": "alias/volumes"}]},
            "ebs_volumes[0].kms_key_id",
            "must be the ID or the ARN of a KMS key (no alias)",
        ),
        (
            {"ebs_volumes": [{**DATA, "kms_key_id": KEY.replace("us-west-2", "eu-west-1")}]},
            "ebs_volumes[0].kms_key_id",
            "must be of region us-west-2",
        ),
        ({"fsx_lustre_mounts": [{"dns_name": DNS}]}, "fsx_lustre_mounts[0].mount_name", "missing"),
        (
            {"fsx_lustre_mounts": [{**LUSTRE, "dns_name": "files.example.com"}]},
            "fsx_lustre_mounts[0].dns_name",
            "the API's pattern for a file system's DNS name",
        ),
        (
            {"fsx_lustre_mounts": [{**LUSTRE, "mount_name": "too-long-name"}]},
            "fsx_lustre_mounts[0].mount_name",
            "must be 1 to 8 characters",
        ),
        (
            {"fsx_openzfs_mounts": [{"dns_name": DNS, "mount_path": "files"}]},
            "fsx_openzfs_mounts[0].mount_path",
            "the API's pattern for a mount path",
        ),
        ({"fsx_lustre_mounts": mounts(4)}, "fsx_lustre_mounts", "makes 5 volumes and mounts"),
        ({"fsx_lustre_mounts": mounts(5)}, "fsx_lustre_mounts", "must list 0 to 4 mounts"),
        (
            {"availability_zone_id": "usw2-az2", "override_vpc": {"subnet_ids": [SUBNET]}},
            "availability_zone_id",
            "must be left out with override_vpc",
        ),
        (
            {
                "instance_type": None,
                "instance_types": ["ml.g5.xlarge", "ml.m5.large"],
                "deep_health_checks": ["InstanceStress"],
            },
            "deep_health_checks",
            "must be empty for ml.m5.large",
        ),
        (
            {"instance_type": None, "instance_types": [f"ml.c5.{n}xlarge" for n in range(21)]},
            "instance_types",
            "is not a HyperPod instance type",
        ),
    ],
)
def test_mistake_between_the_fields_of_a_group(
    group: dict[str, object], start: str, message: str
) -> None:
    document = default_document()
    base = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
    document["cluster"]["instance_groups"] = [base | group]

    line = lines_for(document)[0]

    assert line.startswith(f"{GROUP}.{start}")
    assert message in line

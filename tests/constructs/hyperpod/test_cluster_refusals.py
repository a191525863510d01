"""Rules on the cluster as a whole and its restricted groups: one mistake, one line."""

import pytest

from tests.support.configs import default_document
from tests.support.refusals import line_after, lines_for

CLUSTER, GROUP = "cluster", "cluster.instance_groups[0]"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
NOVA = {"name": "nova", "instance_type": "ml.p5.48xlarge", "instance_count": 1}
FILES = {"size_gib": 1200, "per_unit_storage_throughput": 250}


@pytest.mark.parametrize(
    ("path", "value", "start", "message"),
    [
        ("auto_scaling", "karpenter", "auto_scaling", "(allowed: Karpenter)"),
        ("role_arn", "Scaling", "role_arn", "must be the ARN of an IAM role, such as arn:aws:"),
        ("role_arn", ROLE.replace("role/", "role"), "role_arn", "must be the ARN of an IAM role"),
        ("role_arn", ROLE.replace("1", "\N{ARABIC-INDIC DIGIT ONE}"), "role_arn", "must be the"),
        ("role_arn", ROLE.replace(":aws:", ":aws-cn:"), "role_arn", "must be of partition aws"),
        ("tiered_storage", {}, "tiered_storage.mode", "is missing"),
        ("tiered_storage", {"mode": "On"}, "tiered_storage.mode", "(allowed: Enable, Disable)"),
        (
            "tiered_storage",
            {"mode": "Enable", "instance_memory_percentage": 101},
            "tiered_storage.instance_memory_percentage",
            "must be 0 to 100",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "instance_type": None}],
            "restricted_instance_groups[0].instance_type",
            "must be text",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "name": "worker-group-2"}],
            "restricted_instance_groups[0].name",
            "is already the name of instance_groups[1]",
        ),
        (
            "restricted_instance_groups",
            [NOVA, NOVA],
            "restricted_instance_groups[1].name",
            "is already the name of restricted_instance_groups[0]",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "name": f"nova-{n}"} for n in range(101)],
            "restricted_instance_groups",
            "101 must be 1 to 100",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "labels": {"a": "b"}}],
            "restricted_instance_groups[0].labels",
            "is not a key here",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "availability_zone_id": "usw2-az1"}],
            "restricted_instance_groups[0].availability_zone_id",
            "must be a HyperPod subnet's zone",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "environment": {"fsx_lustre": {**FILES, "size_gib": 1000}}}],
            "restricted_instance_groups[0].environment.fsx_lustre.size_gib",
            "must be 1200 to 100800",
        ),
        (
            "restricted_instance_groups",
            [
                {
                    **NOVA,
                    "environment": {"fsx_lustre": {**FILES, "per_unit_storage_throughput": 100}},
                }
            ],
            "restricted_instance_groups[0].environment.fsx_lustre.per_unit_storage_throughput",
            "must be 125 to 1000",
        ),
        (
            "shared_environment",
            {"fsx_lustre": FILES, "fsx_lustre_deletion_policy": "Keep"},
            "shared_environment",
            "there are no restricted_instance_groups to share it",
        ),
        (
            "shared_environment",
            {"fsx_lustre": FILES, "fsx_lustre_deletion_policy": "DeleteIfUnused"},
            "shared_environment.fsx_lustre_deletion_policy",
            "did you mean DeleteIfNotUsed?",
        ),
    ],
)
def test_mistake_in_the_cluster(path: str, value: object, start: str, message: str) -> None:
    line = line_after(f"{CLUSTER}.{path}", value)

    assert line.startswith(f"{CLUSTER}.{start}: ")
    assert message in line


def test_zone_of_a_group_needs_the_list_of_zones() -> None:
    document = default_document()
    del document["network"]
    document["cluster"]["instance_groups"][0]["availability_zone_id"] = "usw2-az1"

    assert lines_for(document) == (
        f"{GROUP}.availability_zone_id: 'usw2-az1' needs network.availability_zone_ids too; "
        "or leave it out",
    )

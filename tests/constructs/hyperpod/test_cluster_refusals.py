"""What a cluster and its software updates are refused for."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.configs import default_document
from tests.support.refusals import line_after, lines_for

ROLE = "arn:aws:iam::111122223333:role/Nodes"
NOVA = {"name": "nova", "instance_type": "ml.p5.48xlarge", "instance_count": 1}
FILES = {"size_gib": 1200, "per_unit_storage_throughput": 250}
COUNT = {"type": "INSTANCE_COUNT", "value": 1}
BATCHES = {"maximum_batch_size": COUNT}
IDLE = "idle_wait_window_seconds"
UPDATE, PATCH = "instance_groups[0].scheduled_update", "instance_groups[0].auto_patch"


def deployed(deployment: object) -> dict[str, object]:
    return {"schedule_expression": "cron(0 3 ? * SUN *)", "deployment": deployment}


@pytest.mark.parametrize(
    ("path", "value", "start"),
    [
        ("auto_scaling", "karpenter", "auto_scaling"),
        ("role_arn", "Scaling", "role_arn"),
        ("role_arn", ROLE.replace("1", "\N{ARABIC-INDIC DIGIT ONE}"), "role_arn"),
        ("tiered_storage", {}, "tiered_storage.mode"),
        ("tiered_storage", {"mode": "On"}, "tiered_storage.mode"),
        (
            "tiered_storage",
            {"mode": "Enable", "instance_memory_percentage": 101},
            "tiered_storage.instance_memory_percentage",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "instance_type": None}],
            "restricted_instance_groups[0].instance_type",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "name": "worker-group-2"}],
            "restricted_instance_groups[0].name",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "name": f"nova-{n}"} for n in range(101)],
            "restricted_instance_groups",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "labels": {"a": "b"}}],
            "restricted_instance_groups[0].labels",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "availability_zone_id": "usw2-az1"}],
            "restricted_instance_groups[0].availability_zone_id",
        ),
        (
            "restricted_instance_groups",
            [{**NOVA, "environment": {"fsx_lustre": {**FILES, "size_gib": 1000}}}],
            "restricted_instance_groups[0].environment.fsx_lustre.size_gib",
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
        ),
        (
            "shared_environment",
            {"fsx_lustre": FILES, "fsx_lustre_deletion_policy": "Keep"},
            "shared_environment",
        ),
        (
            "shared_environment",
            {"fsx_lustre": FILES, "fsx_lustre_deletion_policy": "DeleteIfUnused"},
            "shared_environment.fsx_lustre_deletion_policy",
        ),
        (UPDATE, {"schedule_expression": "daily"}, f"{UPDATE}.schedule_expression"),
        (
            UPDATE,
            deployed({"maximum_batch_size": {"type": "PERCENT", "value": 1}}),
            f"{UPDATE}.deployment.maximum_batch_size.type",
        ),
        (
            UPDATE,
            deployed({"maximum_batch_size": {"type": "CAPACITY_PERCENTAGE", "value": 101}}),
            f"{UPDATE}.deployment.maximum_batch_size.value",
        ),
        (
            UPDATE,
            deployed({"maximum_batch_size": {"type": "INSTANCE_COUNT", "value": 0}}),
            f"{UPDATE}.deployment.maximum_batch_size.value",
        ),
        (
            UPDATE,
            deployed({"rollback_maximum_batch_size": COUNT}),
            f"{UPDATE}.deployment.maximum_batch_size",
        ),
        (
            UPDATE,
            deployed({"wait_interval_seconds": 3601}),
            f"{UPDATE}.deployment.wait_interval_seconds",
        ),
        (UPDATE, deployed({"rollback_alarms": ["  "]}), f"{UPDATE}.deployment.rollback_alarms[0]"),
        (
            UPDATE,
            deployed({"rollback_alarms": [f"alarm-{n}" for n in range(11)]}),
            f"{UPDATE}.deployment.rollback_alarms",
        ),
        (PATCH, {}, f"{PATCH}.strategy"),
        (PATCH, {"strategy": "Idle"}, f"{PATCH}.strategy"),
        (
            PATCH,
            {"strategy": "WhenIdle", "next_patch_date": "2027-01-31 03:00"},
            f"{PATCH}.next_patch_date",
        ),
        (PATCH, {"strategy": "WhenIdle", "next_patch_date": "Sunday"}, f"{PATCH}.next_patch_date"),
        (PATCH, {"strategy": "WhenIdle", IDLE: 60}, f"{PATCH}.{IDLE}"),
        (PATCH, {"strategy": "DrainFirst", "deployment": BATCHES, IDLE: 3600}, f"{PATCH}.{IDLE}"),
        (PATCH, {"strategy": "WhenIdle", "drain": {}}, f"{PATCH}.drain"),
        (
            PATCH,
            {"strategy": "DrainFirst", "deployment": {"wait_interval_seconds": 60}},
            f"{PATCH}.deployment.maximum_batch_size",
        ),
        *(
            (UPDATE, {"schedule_expression": f"cron({times})"}, f"{UPDATE}.schedule_expression")
            for times in ("a b c d e f", "0 3 * * SUN *", "0 3 ? * ? *", "0 3 ? * SUN")
        ),
        (
            PATCH,
            {"strategy": "DrainFirst", "drain": {"timeout_seconds": 5401}},
            f"{PATCH}.drain.timeout_seconds",
        ),
        (
            PATCH,
            {"strategy": "DrainFirst", "drain": {"on_timeout": "Wait"}},
            f"{PATCH}.drain.on_timeout",
        ),
    ],
)
def test_mistake_in_the_cluster(
    path: str, value: object, start: str, snapshot: SnapshotAssertion
) -> None:
    line = line_after(f"cluster.{path}", value)

    assert line.startswith(f"cluster.{start}: ")
    assert line == snapshot


def test_zone_of_a_group_needs_the_list_of_zones() -> None:
    document = default_document()
    del document["network"]
    document["cluster"]["instance_groups"][0]["availability_zone_id"] = "usw2-az1"

    assert lines_for(document) == (
        "cluster.instance_groups[0].availability_zone_id: 'usw2-az1' needs "
        "network.availability_zone_ids too; or leave it out",
    )

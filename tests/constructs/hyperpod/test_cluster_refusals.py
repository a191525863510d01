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
    ("path", "value"),
    [
        ("auto_scaling", "karpenter"),
        ("role_arn", "Scaling"),
        ("role_arn", ROLE.replace("1", "\N{ARABIC-INDIC DIGIT ONE}")),
        ("tiered_storage", {}),
        ("tiered_storage", {"mode": "On"}),
        ("tiered_storage", {"mode": "Enable", "instance_memory_percentage": 101}),
        ("restricted_instance_groups", [{**NOVA, "instance_type": None}]),
        ("restricted_instance_groups", [{**NOVA, "name": "worker-group-2"}]),
        ("restricted_instance_groups", [{**NOVA, "name": f"nova-{n}"} for n in range(101)]),
        ("restricted_instance_groups", [{**NOVA, "labels": {"a": "b"}}]),
        ("restricted_instance_groups", [{**NOVA, "availability_zone_id": "usw2-az1"}]),
        (
            "restricted_instance_groups",
            [{**NOVA, "environment": {"fsx_lustre": {**FILES, "size_gib": 1000}}}],
        ),
        (
            "restricted_instance_groups",
            [
                {
                    **NOVA,
                    "environment": {"fsx_lustre": {**FILES, "per_unit_storage_throughput": 100}},
                }
            ],
        ),
        ("shared_environment", {"fsx_lustre": FILES, "fsx_lustre_deletion_policy": "Keep"}),
        (
            "shared_environment",
            {"fsx_lustre": FILES, "fsx_lustre_deletion_policy": "DeleteIfUnused"},
        ),
        (UPDATE, {"schedule_expression": "daily"}),
        (UPDATE, deployed({"maximum_batch_size": {"type": "PERCENT", "value": 1}})),
        (UPDATE, deployed({"maximum_batch_size": {"type": "CAPACITY_PERCENTAGE", "value": 101}})),
        (UPDATE, deployed({"maximum_batch_size": {"type": "INSTANCE_COUNT", "value": 0}})),
        (UPDATE, deployed({"rollback_maximum_batch_size": COUNT})),
        (UPDATE, deployed({"wait_interval_seconds": 3601})),
        (UPDATE, deployed({"rollback_alarms": ["  "]})),
        (UPDATE, deployed({"rollback_alarms": [f"alarm-{n}" for n in range(11)]})),
        (PATCH, {}),
        (PATCH, {"strategy": "Idle"}),
        (PATCH, {"strategy": "WhenIdle", "next_patch_date": "2027-01-31 03:00"}),
        (PATCH, {"strategy": "WhenIdle", "next_patch_date": "Sunday"}),
        (PATCH, {"strategy": "WhenIdle", IDLE: 60}),
        (PATCH, {"strategy": "DrainFirst", "deployment": BATCHES, IDLE: 3600}),
        (PATCH, {"strategy": "WhenIdle", "drain": {}}),
        (PATCH, {"strategy": "DrainFirst", "deployment": {"wait_interval_seconds": 60}}),
        *(
            (UPDATE, {"schedule_expression": f"cron({times})"})
            for times in ("a b c d e f", "0 3 * * SUN *", "0 3 ? * ? *", "0 3 ? * SUN")
        ),
        (PATCH, {"strategy": "DrainFirst", "drain": {"timeout_seconds": 5401}}),
        (PATCH, {"strategy": "DrainFirst", "drain": {"on_timeout": "Wait"}}),
    ],
)
def test_mistake_in_the_cluster(path: str, value: object, snapshot: SnapshotAssertion) -> None:
    line = line_after(f"cluster.{path}", value)

    # At the key or below it: where exactly stands in the snapshot, with the words.
    assert line.startswith(f"cluster.{path}")
    assert line == snapshot


def test_zone_of_a_group_needs_the_list_of_zones(snapshot: SnapshotAssertion) -> None:
    document = default_document()
    del document["network"]
    document["cluster"]["instance_groups"][0]["availability_zone_id"] = "usw2-az1"

    assert lines_for(document) == snapshot

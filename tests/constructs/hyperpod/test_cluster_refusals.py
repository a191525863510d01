"""What a cluster and its software updates are refused for."""

import pytest

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
    ("path", "value", "start", "message"),
    [
        ("auto_scaling", "karpenter", "auto_scaling", "(allowed: Karpenter)"),
        ("role_arn", "Scaling", "role_arn", "must be the ARN of an IAM role, such as arn:aws:"),
        ("role_arn", ROLE.replace("1", "\N{ARABIC-INDIC DIGIT ONE}"), "role_arn", "must be the"),
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
            [{**NOVA, "name": f"nova-{n}"} for n in range(101)],
            "restricted_instance_groups",
            "101 items; must be 1 to 100",
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
        (UPDATE, {"schedule_expression": "daily"}, f"{UPDATE}.schedule_expression", "six fields"),
        (
            UPDATE,
            deployed({"maximum_batch_size": {"type": "PERCENT", "value": 1}}),
            f"{UPDATE}.deployment.maximum_batch_size.type",
            "(allowed: INSTANCE_COUNT, CAPACITY_PERCENTAGE)",
        ),
        (
            UPDATE,
            deployed({"maximum_batch_size": {"type": "CAPACITY_PERCENTAGE", "value": 101}}),
            f"{UPDATE}.deployment.maximum_batch_size.value",
            "must be 1 to 100, being a percentage",
        ),
        (
            UPDATE,
            deployed({"maximum_batch_size": {"type": "INSTANCE_COUNT", "value": 0}}),
            f"{UPDATE}.deployment.maximum_batch_size.value",
            "the API's limits for a batch size",
        ),
        (
            UPDATE,
            deployed({"rollback_maximum_batch_size": COUNT}),
            f"{UPDATE}.deployment.maximum_batch_size",
            "is missing: rollback_maximum_batch_size needs it",
        ),
        (
            UPDATE,
            deployed({"wait_interval_seconds": 3601}),
            f"{UPDATE}.deployment.wait_interval_seconds",
            "must be 0 to 3600",
        ),
        (
            UPDATE,
            deployed({"rollback_alarms": ["  "]}),
            f"{UPDATE}.deployment.rollback_alarms[0]",
            "the API's pattern for a CloudWatch alarm's name",
        ),
        (
            UPDATE,
            deployed({"rollback_alarms": [f"alarm-{n}" for n in range(11)]}),
            f"{UPDATE}.deployment.rollback_alarms",
            "must list 0 to 10 alarms",
        ),
        (PATCH, {}, f"{PATCH}.strategy", "is missing"),
        (PATCH, {"strategy": "Idle"}, f"{PATCH}.strategy", "(allowed: WhenIdle, WhenAllIdle, D"),
        (
            PATCH,
            {"strategy": "WhenIdle", "next_patch_date": "2027-01-31 03:00"},
            f"{PATCH}.next_patch_date",
            "must be a date and time with its offset",
        ),
        (
            PATCH,
            {"strategy": "WhenIdle", "next_patch_date": "Sunday"},
            f"{PATCH}.next_patch_date",
            "must be a date and time with its offset",
        ),
        (PATCH, {"strategy": "WhenIdle", IDLE: 60}, f"{PATCH}.{IDLE}", "must be 3600 to 2160000"),
        (
            PATCH,
            {"strategy": "DrainFirst", "deployment": BATCHES, IDLE: 3600},
            f"{PATCH}.{IDLE}",
            "for WhenIdle and",
        ),
        (PATCH, {"strategy": "WhenIdle", "drain": {}}, f"{PATCH}.drain", "it is for DrainFirst"),
        (
            PATCH,
            {"strategy": "DrainFirst", "deployment": {"wait_interval_seconds": 60}},
            f"{PATCH}.deployment.maximum_batch_size",
            "is missing: DrainFirst needs it",
        ),
        *(
            (
                UPDATE,
                {"schedule_expression": f"cron({times})"},
                f"{UPDATE}.schedule_expression",
                "six fields",
            )
            for times in ("a b c d e f", "0 3 * * SUN *", "0 3 ? * ? *", "0 3 ? * SUN")
        ),
        (
            PATCH,
            {"strategy": "DrainFirst", "drain": {"timeout_seconds": 5401}},
            f"{PATCH}.drain.timeout_seconds",
            "must be 0 to 5400",
        ),
        (
            PATCH,
            {"strategy": "DrainFirst", "drain": {"on_timeout": "Wait"}},
            f"{PATCH}.drain.on_timeout",
            "(allowed: Force, Skip)",
        ),
    ],
)
def test_mistake_in_the_cluster(path: str, value: object, start: str, message: str) -> None:
    line = line_after(f"cluster.{path}", value)

    assert line.startswith(f"cluster.{start}: ")
    assert message in line


def test_zone_of_a_group_needs_the_list_of_zones() -> None:
    document = default_document()
    del document["network"]
    document["cluster"]["instance_groups"][0]["availability_zone_id"] = "usw2-az1"

    assert lines_for(document) == (
        "cluster.instance_groups[0].availability_zone_id: 'usw2-az1' needs "
        "network.availability_zone_ids too; or leave it out",
    )

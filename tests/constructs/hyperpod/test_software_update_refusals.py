"""Rules on updates of the AMI: one mistake, one line."""

import pytest

from tests.support.refusals import line_after

GROUP = "cluster.instance_groups[0]"
COUNT = {"type": "INSTANCE_COUNT", "value": 1}
BATCHES = {"maximum_batch_size": COUNT}
IDLE = "idle_wait_window_seconds"
UPDATE, PATCH = "scheduled_update", "auto_patch"


def deployed(deployment: object) -> dict[str, object]:
    return {"schedule_expression": "cron(0 3 ? * SUN *)", "deployment": deployment}


@pytest.mark.parametrize(
    ("path", "value", "start", "message"),
    [
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
def test_mistake_in_an_update(path: str, value: object, start: str, message: str) -> None:
    line = line_after(f"{GROUP}.{path}", value)

    assert line.startswith(f"{GROUP}.{start}: ")
    assert message in line

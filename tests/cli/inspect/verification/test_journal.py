"""Whether the provisioner has its journal."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.inspect.verification.subjects.journal import journal
from tests.cli.inspect.verification.conftest import OUTPUTS, Deployed, paginated, report
from tests.support.configs import configure
from tests.support.provisioner.fake_s3 import client_error

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
OUTPUTS_WITH_KEY = {**OUTPUTS, "ml-platform": {**OUTPUTS["ml-platform"], "EncryptionKeyArn": KEY}}
TABLE = {
    "LogicalResourceId": "ProvisionerJournalTable",
    "PhysicalResourceId": "journal",
    "ResourceStatus": "CREATE_COMPLETE",
    "ResourceType": "AWS::DynamoDB::Table",
}
ACTIVE: dict[str, Any] = {"TableStatus": "ACTIVE"}


@pytest.mark.parametrize(
    ("resources", "table", "recovery", "key"),
    [
        pytest.param([TABLE], ACTIVE, "ENABLED", None, id="as deployed"),
        pytest.param([], ACTIVE, "ENABLED", None, id="of an earlier release"),
        pytest.param([TABLE], None, "ENABLED", KEY, id="deleted"),
        pytest.param([TABLE], {"TableStatus": "ARCHIVED"}, "DISABLED", None, id="archived"),
        pytest.param(
            [TABLE],
            {**ACTIVE, "SSEDescription": {"KMSMasterKeyArn": KEY}},
            "ENABLED",
            KEY,
            id="with its key",
        ),
        pytest.param([TABLE], ACTIVE, "ENABLED", KEY, id="without its key"),
    ],
)
def test_what_is_found_of_the_journal(
    deployed: Deployed,
    snapshot: SnapshotAssertion,
    *,
    resources: list[dict[str, Any]],
    table: dict[str, Any] | None,
    recovery: str,
    key: str | None,
) -> None:
    def describe(**asked: str) -> dict[str, Any]:
        if table is None:
            raise client_error("ResourceNotFoundException", "DescribeTable", "not found")
        return {"Table": {"TableName": asked["TableName"], **table}}

    status = {"PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": recovery}}
    looked = deployed(
        configure({"encryption": {"kms_key_arn": key}}),
        outputs=OUTPUTS_WITH_KEY,
        cloudformation={
            "get_paginator": paginated(list_stack_resources=[{"StackResourceSummaries": resources}])
        },
        dynamodb={
            "describe_table": describe,
            "describe_continuous_backups": lambda **_: {"ContinuousBackupsDescription": status},
        },
    )
    assert report(journal(looked)) == snapshot

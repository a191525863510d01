"""Databases of RDS: what RDS refuses, the secret that it manages, and protection."""

import json
from typing import Any

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    client,
    database,
    delete,
    deploy,
    events,
)

OUTPUTS = {
    "Database": {"Ref": "Database"},
    "Secret": {"Fn::GetAtt": ["Database", "MasterUserSecret.SecretArn"]},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"second": "Same"}, "DBSubnetGroupDoesNotCoverEnoughAZs"),
        ({"KmsKeyId": "arn:aws:kms:us-west-2:000000000000:key/none"}, "KMSKeyNotAccessibleFault"),
    ],
)
def test_rds_refuses_one_zone_and_a_key_that_is_not_there(
    changes: dict[str, Any], message: str, aws: LocalAws
) -> None:
    with pytest.raises(StackFailedError, match=message):
        deploy(aws, database(**changes), {})


def test_a_database_has_a_secret_and_is_protected_until_it_is_not(aws: LocalAws) -> None:
    stack = deploy(aws, database(), OUTPUTS)
    secrets, rds = client(aws, "secretsmanager"), client(aws, "rds")
    secret, name = stack.outputs["Secret"], stack.outputs["Database"]
    login = json.loads(secrets.get_secret_value(SecretId=secret)["SecretString"])
    [found] = rds.describe_db_instances(DBInstanceIdentifier=name)["DBInstances"]

    assert login["username"] == "slurm"
    assert len(login["password"]) > 20
    assert found["MasterUserSecret"]["SecretArn"] == secret
    with pytest.raises(StackFailedError):
        delete(aws, stack)
    reasons = [reason for _, reason in events(aws, stack, "Database")]
    assert any("Cannot delete protected DB Instance" in reason for reason in reasons)

    rds.modify_db_instance(
        DBInstanceIdentifier=name,
        DeletionProtection=False,
        ApplyImmediately=True,
    )
    delete(aws, stack)
    assert rds.describe_db_instances()["DBInstances"] == []
    with pytest.raises(secrets.exceptions.ResourceNotFoundException):
        secrets.get_secret_value(SecretId=secret)

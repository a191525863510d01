"""The database of Slurm's accounting on the local AWS, and what is looked at of it there."""

import json
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.node_rights import needed_statements
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.slurm.accounting_database import (
    accounting_database as validate,
)
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.subjects.slurm.accounting import accounting as verify
from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from tests.conftest import Configure
from tests.support.local_aws import (
    StackFailedError,
    client,
    database,
    delete,
    deploy,
    events,
    network,
)

OUTPUTS = {
    "Database": {"Ref": "Database"},
    "Secret": {"Fn::GetAtt": ["Database", "MasterUserSecret.SecretArn"]},
}


def slurm(configure: Configure, accounting: dict[str, Any] | None) -> Config:
    group = {"name": "controller", "instance_type": "ml.m5.xlarge", "instance_count": 1}
    cluster = {
        "orchestrator": "slurm",
        "slurm": {"accounting": accounting},
        "instance_groups": [{**group, "slurm": {"node_type": "controller"}}],
    }
    return configure({"eks": {}, "helm": {}, "cluster": cluster})


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


def test_a_database_has_a_secret_and_is_protected_until_it_is_not(
    aws: LocalAws, configure: Configure
) -> None:
    stack = deploy(aws, database(), OUTPUTS)
    secrets, rds = client(aws, "secretsmanager"), client(aws, "rds")
    secret, name = stack.outputs["Secret"], stack.outputs["Database"]
    login = json.loads(secrets.get_secret_value(SecretId=secret)["SecretString"])
    [found] = rds.describe_db_instances(DBInstanceIdentifier=name)["DBInstances"]

    assert login["username"] == "slurm"
    assert len(login["password"]) > 20
    assert found["MasterUserSecret"]["SecretArn"] == secret
    config = slurm(configure, {})
    live = LiveDeployment(
        config=config,
        client=aws_clients(aws),
        kubernetes=None,
        outputs={f"{config.name}-storage": {"AccountingDatabaseId": name}},
    )
    assert [check.found for check in verify(live)] == [""]
    with pytest.raises(StackFailedError):
        delete(aws, stack)
    reasons = [reason for _, reason in events(aws, stack, "Database")]
    assert any("Cannot delete protected DB Instance" in reason for reason in reasons)

    rds.modify_db_instance(
        DBInstanceIdentifier=name,
        DeletionProtection=False,
        PubliclyAccessible=True,
        ApplyImmediately=True,
    )
    assert [check.found for check in verify(live)] == ["is public, has no deletion protection"]
    delete(aws, stack)
    assert rds.describe_db_instances()["DBInstances"] == []
    with pytest.raises(secrets.exceptions.ResourceNotFoundException):
        secrets.get_secret_value(SecretId=secret)


def test_preflight_finds_a_secret_and_subnets_that_slurm_cannot_use(
    aws: LocalAws, configure: Configure
) -> None:
    made = {**network(), "Same": database()["Same"]}
    stack = deploy(aws, made, {name: {"Ref": name} for name in ("First", "Second", "Same")})
    clients = aws_clients(aws)
    target = Target(partition="aws", account="000000000000", region="us-west-2", client=clients)
    secrets = clients("secretsmanager")
    whole = secrets.create_secret(Name="whole", SecretString='{"username":"a","password":"b"}')
    half = secrets.create_secret(Name="half", SecretString='{"username":"a"}', KmsKeyId="1234")
    gone = f"{whole['ARN'][:-6]}-AbCdEf".replace("whole", "gone")

    def said(**accounting: Any) -> list[str]:
        config = slurm(configure, accounting)
        return [finding.message for finding, _ in validate(config, target)]

    assert said(endpoint="a.b", secret_arn=whole["ARN"]) == []
    assert said(endpoint="a.b", secret_arn=gone) == ["is no secret in us-west-2"]
    key, fields = said(endpoint="a.b", secret_arn=half["ARN"])
    assert "name it in secret_kms_key_arn" in key
    assert "has no password; its value must be JSON" in fields
    first, second, same = (stack.outputs[name] for name in ("First", "Second", "Same"))
    assert said(subnet_ids=[first, second]) == []
    [zones] = said(subnet_ids=[first, same])
    assert zones.startswith("are all in us-west-2")
    assert said(subnet_ids=[first, "subnet-12345678"]) == ["are not all in us-west-2"]


def test_a_role_of_ones_own_needs_the_secret_for_the_controller_alone(configure: Configure) -> None:
    config = slurm(configure, {})
    target = Target(partition="aws", account="111122223333", region="us-west-2", client=print)
    groups = config.cluster.instance_groups

    needed, without = (
        [each.get("Sid") for each in needed_statements(config, target, groups=some)]
        for some in (groups, ())
    )

    assert {*needed} - {*without} == {"ReadAccountingSecret"}

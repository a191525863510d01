"""What is looked at of the database of Slurm's accounting: before and after a deployment."""

from typing import Any

from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.inspect.preflight.node_rights import needed_statements
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.slurm.accounting_database import (
    accounting_database as validate,
)
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.subjects.slurm.accounting import accounting as verify
from hyperpod_emulator.aws.local_aws import LocalAws, aws_clients
from hyperpod_emulator.testing.stacks import (
    database,
    deploy,
    network,
)
from tests.conftest import Configure


def slurm(configure: Configure, accounting: dict[str, Any] | None) -> Config:
    group = {"name": "controller", "instance_type": "ml.m5.xlarge", "instance_count": 1}
    cluster = {
        "orchestrator": "slurm",
        "slurm": {"accounting": accounting},
        "instance_groups": [{**group, "slurm": {"node_type": "controller"}}],
    }
    return configure({"eks": {}, "helm": {}, "cluster": cluster})


def test_a_database_must_be_private_and_protected(
    aws: LocalAws, configure: Configure, snapshot: SnapshotAssertion
) -> None:
    stack = deploy(aws, database(), {"Database": {"Ref": "Database"}})
    name = stack.outputs["Database"]
    config = slurm(configure, {})
    live = LiveDeployment(
        config=config,
        client=aws_clients(aws),
        kubernetes=None,
        outputs={f"{config.name}-storage": {"AccountingDatabaseId": name}},
    )
    assert [check.found for check in verify(live)] == [""]

    aws_clients(aws)("rds").modify_db_instance(
        DBInstanceIdentifier=name,
        DeletionProtection=False,
        PubliclyAccessible=True,
        ApplyImmediately=True,
    )

    assert [check.found for check in verify(live)] == snapshot


def test_preflight_finds_a_secret_and_subnets_that_slurm_cannot_use(
    aws: LocalAws, configure: Configure, snapshot: SnapshotAssertion
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
    assert said(endpoint="a.b", secret_arn=gone) == snapshot(name="gone")
    assert said(endpoint="a.b", secret_arn=half["ARN"]) == snapshot(name="half")
    first, second, same = (stack.outputs[name] for name in ("First", "Second", "Same"))
    assert said(subnet_ids=[first, second]) == []
    [zones] = said(subnet_ids=[first, same])
    assert zones.startswith("are all in us-west-2")


def test_a_role_of_ones_own_needs_the_secret_for_the_controller_alone(configure: Configure) -> None:
    config = slurm(configure, {})
    target = Target(partition="aws", account="111122223333", region="us-west-2", client=print)
    groups = config.cluster.instance_groups

    needed, without = (
        [each.get("Sid") for each in needed_statements(config, target, groups=some)]
        for some in (groups, ())
    )

    assert {*needed} - {*without} == {"ReadAccountingSecret"}

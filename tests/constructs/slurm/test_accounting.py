"""The database of Slurm's accounting: its section, what is made of it, and who reads its secret."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.slurm.accounting import accounting_database_of, accounting_statements
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from tests.conftest import Raises
from tests.support.assembly import Assembly, new_app
from tests.support.linter import findings

CREDENTIALS = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
EXISTING: dict[str, Any] = {"endpoint": "slurm.example.com", "secret_arn": CREDENTIALS}
DELETED: dict[str, Any] = {
    "delete_with_stack": True,
    "i_understand_all_records_are_deleted": True,
}

REFUSED: list[dict[str, Any]] = [
    {"endpoint": "a.b"},
    {"secret_arn": CREDENTIALS},
    {"port": 3307},
    {**EXISTING, "multi_az": True, "storage_gib": 40},
    {**EXISTING, "port": 0},
    {**EXISTING, "endpoint": "bad_host"},
    {"name": "slurm-db"},
    {"storage_gib": 10},
    {"backup_days": 0},
    {"instance_class": "ml.m5.large"},
    {"subnet_cidrs": ("10.0.0.0/28",)},
    {"subnet_cidrs": ("10.0.0.0/27", "10.0.0.16/28")},
    {"subnet_ids": ("subnet-12345678",) * 2},
    {"subnet_ids": ("subnet-12345678", "subnet-12345679"), "subnet_cidrs": ()},
    {"delete_with_stack": True},
]


@pytest.mark.parametrize("values", REFUSED, ids=", ".join)
def test_a_section_that_rds_or_hyperpod_would_refuse_is_refused_in_a_line(
    values: dict[str, Any], raises: Raises
) -> None:
    with raises(ConfigError) as refused:
        AccountingConfig(**values)

    assert "\n" not in str(refused.value)


def _made(directory: Path, values: dict[str, Any], *, key: bool = False, nag: bool = False) -> Any:  # noqa: ANN401
    """Return the template, the request's member and the statements, and what nag finds."""
    app = new_app(directory, validate=nag)
    stack = cdk.Stack(app, "Storage", env=cdk.Environment(region="us-west-2"))
    database = accounting_database_of(
        stack,
        "Accounting",
        vpc=ec2.Vpc.from_vpc_attributes(
            stack, "Vpc", vpc_id="vpc-12345678", availability_zones=["us-west-2a"]
        ),
        zones=("usw2-az1",),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Nodes", "sg-12345678"),
        accounting=AccountingConfig(**values),
        encryption_key=kms.Key.from_key_arn(stack, "Key", KEY) if key else None,
    )
    statements = accounting_statements(stack, database)
    request = stack.resolve(database.to_request())
    allowed = [stack.resolve(each.to_json()) for each in statements]
    if nag:
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app))
    app.synth()
    assembly = Assembly(directory)
    return assembly.templates()["Storage"], request, allowed, assembly


def _only(template: dict[str, Any], kind: str) -> dict[str, Any]:
    [found] = [each for each in template["Resources"].values() if each["Type"] == kind]
    return dict(found)


@pytest.mark.parametrize("values", [{}, {"multi_az": True, **DELETED}], ids=["kept", "deleted"])
def test_a_new_database_opens_no_finding(values: dict[str, Any], tmp_path: Path) -> None:
    template, *_, assembly = _made(tmp_path, values, key=bool(values), nag=True)

    assert assembly.nag_findings() == []
    assert findings(json.dumps(template), region="us-west-2") == ()


def test_a_key_encrypts_records_and_secret_and_is_used_through_secrets_manager_alone(
    tmp_path: Path,
) -> None:
    template, request, allowed, _ = _made(tmp_path, {}, key=True)

    properties = _only(template, "AWS::RDS::DBInstance")["Properties"]
    assert properties["KmsKeyId"] == properties["MasterUserSecret"]["KmsKeyId"] == KEY
    decrypt = allowed[1]
    assert (decrypt["Action"], decrypt["Resource"]) == ("kms:Decrypt", KEY)
    assert (
        decrypt["Condition"]["StringEquals"]["kms:EncryptionContext:SecretARN"]
        == request["SecretArn"]
    )


def test_records_go_with_the_stack_if_the_configuration_says_so_twice(tmp_path: Path) -> None:
    template, *_ = _made(tmp_path, DELETED)

    database = _only(template, "AWS::RDS::DBInstance")
    assert database["Properties"]["DeletionProtection"] is False
    assert {each["DeletionPolicy"] for each in template["Resources"].values()} == {"Delete"}


def test_an_existing_database_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    values = {**EXISTING, "port": 3307, "secret_kms_key_arn": KEY}
    template, request, allowed, _ = _made(tmp_path, values)

    assert "Resources" not in template
    assert request == {"Endpoint": "slurm.example.com", "Port": 3307, "SecretArn": CREDENTIALS}
    assert [(each["Action"], each["Resource"]) for each in allowed] == [
        ("secretsmanager:GetSecretValue", CREDENTIALS),
        ("kms:Decrypt", KEY),
    ]


@pytest.mark.parametrize(
    "change",
    [EXISTING, {"subnet_cidrs": ("10.192.12.0/28", "10.192.12.16/28")}],
    ids=["existing", "subnets"],
)
def test_what_would_leave_the_records_behind_is_refused_before_anything_changes(
    change: dict[str, Any], tmp_path: Path
) -> None:
    before, after = (
        _made(tmp_path / name, values)[0] for name, values in (("a", {}), ("b", change))
    )

    changed = [
        name
        for name, parameter in after["Parameters"].items()
        if before["Parameters"].get(name, parameter)["Default"] != parameter["Default"]
    ]
    assert len(changed) == 1
    rules = json.dumps(after["Rules"])
    assert f'{{"Ref": "{changed[0]}"}}' in rules

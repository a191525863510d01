"""Keys that a configuration names, looked at as they are in an account."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cdk.encryption.key_policy import administration
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.kms_key import kms_key
from tests.support.configs import BY_NAME, configured
from tests.support.provisioner.fake_s3 import client_error

ACCOUNT, REGION = "123456789012", "us-west-2"
ADMINISTRATION = administration(partition="aws", account=ACCOUNT)
BY_LOGS = {
    "Sid": "Logs",
    "Effect": "Allow",
    "Principal": {"Service": ["logs.us-west-2.amazonaws.com", "sns.amazonaws.com"]},
    "Action": ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:D*"],
    "Resource": "*",
}
ANY_GROUP = f"arn:aws:logs:{REGION}:{ACCOUNT}:*"
SYMMETRIC = {"KeySpec": "SYMMETRIC_DEFAULT", "KeyUsage": "ENCRYPT_DECRYPT"}
CONTEXT = "kms:EncryptionContext:aws:logs:arn"


class Kms:
    """KMS, with what its two operations say of keys."""

    def __init__(self) -> None:
        self.keys: dict[str, dict[str, Any]] = {}
        self.policies: dict[str, str] = {}

    def make(self, *statements: dict[str, Any], **metadata: str) -> str:
        """Return the ARN of a new key."""
        arn = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-{len(self.keys):012}"
        self.keys[arn] = {"KeyState": "Enabled", **SYMMETRIC, **metadata}
        self.policies[arn] = json.dumps({"Version": "2012-10-17", "Statement": statements})
        return arn

    def describe_key(self, *, KeyId: str) -> dict[str, Any]:
        if KeyId not in self.keys:
            raise client_error("NotFoundException", "DescribeKey")
        return {"KeyMetadata": {"Arn": KeyId, **self.keys[KeyId]}}

    def get_key_policy(self, *, KeyId: str, PolicyName: str) -> dict[str, Any]:
        assert PolicyName == "default"
        return {"Policy": self.policies[KeyId]}


@pytest.fixture
def kms() -> Kms:
    return Kms()


def found(kms: Kms, key: str, **encryption: bool) -> list[tuple[str, str]]:
    """Return where and what the validator finds with a key for all data."""
    config = configured({"encryption": {"kms_key_arn": key, **encryption}})
    return problems(kms, config)


def problems(kms: Kms, config: Config) -> list[tuple[str, str]]:
    target = Target(
        partition="aws",
        account=ACCOUNT,
        region=REGION,
        client={"kms": kms}.__getitem__,
    )
    return [(".".join(map(str, each[0].path)), each[0].message) for each in kms_key(config, target)]


def on_groups(*patterns: str) -> dict[str, Any]:
    return {**BY_LOGS, "Condition": {"ArnLike": {CONTEXT: list(patterns)}}}


@pytest.mark.parametrize(
    "statement",
    [
        BY_LOGS,
        on_groups(ANY_GROUP),
        {**BY_LOGS, "Principal": "*", "Action": "kms:*"},
        {**BY_LOGS, "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}}},
    ],
)
def test_a_key_that_services_may_use_has_no_problem(kms: Kms, statement: dict[str, Any]) -> None:
    assert found(kms, kms.make(ADMINISTRATION, statement)) == []


@pytest.mark.parametrize(
    "statements",
    [
        [ADMINISTRATION],
        [ADMINISTRATION, {**BY_LOGS, "Effect": "Deny"}],
        [ADMINISTRATION, {**BY_LOGS, "Action": "kms:Decrypt"}],
        [ADMINISTRATION, {**BY_LOGS, "Principal": {"Service": "logs.eu-west-1.amazonaws.com"}}],
        [ADMINISTRATION, on_groups(f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/eks/*")],
    ],
)
def test_the_statement_for_logs_is_missing(kms: Kms, statements: list[dict[str, Any]]) -> None:
    key = kms.make(*statements)

    [(path, message)] = found(kms, key)

    assert path == "encryption.kms_key_arn"
    assert "logs.us-west-2.amazonaws.com" in message
    # What it says to add is enough.
    missing = json.loads(message.partition("the statement ")[2])
    assert found(kms, kms.make(*statements[:1], missing)) == []
    assert found(kms, key, logs=False) == []


@pytest.mark.parametrize(
    "otherwise",
    [
        {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/Ann"}},
        {"Action": [f"kms:{action}*" for action in ("CreateGrant", "Decrypt", "De", "Generate")]},
    ],
    ids=["who", "what"],
)
def test_the_statement_that_lets_iam_policies_decide_is_missing(
    kms: Kms, otherwise: dict[str, Any]
) -> None:
    [(_, message)] = found(kms, kms.make({**ADMINISTRATION, **otherwise}, BY_LOGS))

    assert json.loads(message.partition("the statement ")[2]) == ADMINISTRATION


def test_a_key_of_another_region(kms: Kms, snapshot: SnapshotAssertion) -> None:
    key = f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/1234abcd"
    config = configured({"region": None, "network": BY_NAME, "encryption": {"kms_key_arn": key}})
    assert problems(kms, config) == snapshot


def test_every_key_that_is_named_is_looked_at_and_of_another_account_no_policy(kms: Kms) -> None:
    foreign = f"arn:aws:kms:{REGION}:999999999999:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    [(path, _)] = problems(kms, configured({"eks": {"secrets_kms_key_arn": foreign}}))
    assert path == "eks.secrets_kms_key_arn"
    assert problems(kms, configured({})) == []

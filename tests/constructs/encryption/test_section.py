"""The section: one key at most, and what it encrypts."""

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, EncryptionConfig
from tests.conftest import Raises
from tests.support.configs import KEY, configured, default_document
from tests.support.refusals import lines_for


@pytest.mark.parametrize(
    ("section", "has_key"),
    [({}, False), ({"create_kms_key": True}, True), ({"kms_key_arn": KEY}, True)],
)
def test_there_is_a_key_if_one_is_asked_for(section: dict[str, object], has_key: bool) -> None:
    encryption = configured({"encryption": section}).encryption
    assert (encryption.has_key, encryption.encrypts_volumes) == (has_key, has_key)


def test_a_key_that_is_given_is_not_made_too(raises: Raises) -> None:
    with raises(ConfigError):
        EncryptionConfig(create_kms_key=True, kms_key_arn=KEY)


@pytest.mark.parametrize("arn", ["alias/data", KEY.replace("us-west-2", "eu-west-1")])
def test_a_key_is_named_by_an_arn_of_the_region(arn: str, snapshot: SnapshotAssertion) -> None:
    assert lines_for({**default_document(), "encryption": {"kms_key_arn": arn}}) == snapshot


@pytest.mark.parametrize("days", [0, 31, 366])
def test_logs_are_kept_for_a_time_that_cloudwatch_has(days: int) -> None:
    (line,) = lines_for({**default_document(), "log_retention_days": days})
    assert line.startswith(f"log_retention_days: {days} ")

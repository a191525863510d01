"""The section: one key at most, and what it encrypts."""

import pytest
from pydantic import ValidationError

from hyperpod_cdk import ConfigError, EncryptionConfig
from tests.support.configs import KEY, configured


@pytest.mark.parametrize(
    ("section", "has_key"),
    [({}, False), ({"create_kms_key": True}, True), ({"kms_key_arn": KEY}, True)],
)
def test_there_is_a_key_if_one_is_asked_for(section: dict[str, object], has_key: bool) -> None:
    encryption = configured({"encryption": section}).encryption
    assert (encryption.has_key, encryption.encrypts_volumes) == (has_key, has_key)


def test_a_key_that_is_given_is_not_made_too() -> None:
    with pytest.raises(ConfigError, match="must be left out with create_kms_key"):
        EncryptionConfig(create_kms_key=True, kms_key_arn=KEY)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"kms_key_arn": "alias/data"}, "must be the ARN of a KMS key"),
        ({"kms_key_arn": KEY.replace("us-west-2", "eu-west-1")}, "must be of region us-west-2"),
    ],
)
def test_a_key_is_named_by_an_arn_of_the_region(section: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        configured({"encryption": section})


@pytest.mark.parametrize("days", [0, 31, 366])
def test_logs_are_kept_for_a_time_that_cloudwatch_has(days: int) -> None:
    with pytest.raises(ValidationError, match=r"log_retention_days\n  Input should be 1, 3, 5"):
        configured({"log_retention_days": days})

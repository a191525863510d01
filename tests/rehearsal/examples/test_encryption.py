"""config/examples/customer-key.yaml: a key of the user's, which nothing changes."""

import json

import pytest

from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.kms_key import kms_key
from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["customer-key"]


@pytest.mark.slow(seconds=1)
def test_the_key_is_as_it_was_and_fits(stage: Stage) -> None:
    arn = stage.config.encryption.kms_key_arn
    kms = stage.environment.clients("kms")

    policy = json.loads(kms.get_key_policy(KeyId=arn, PolicyName="default")["Policy"])

    assert [each["Sid"] for each in policy["Statement"]] == ["LetIamPoliciesDecide", "EncryptLogs"]
    assert kms.list_grants(KeyId=arn)["Grants"] == []
    assert kms.list_aliases(KeyId=arn)["Aliases"] == []
    target = Target(
        partition="aws",
        account=stage.environment.aws.account,
        region=stage.environment.region,
        client=stage.environment.clients,
    )
    assert list(kms_key(stage.config, target)) == []

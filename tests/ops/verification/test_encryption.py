"""Whether what a key is for is encrypted with it."""

from typing import Any

import pytest

from hyperpod_ops.verification.encryption import encryption
from tests.conftest import Configure
from tests.ops.verification.conftest import OUTPUTS, Deployed

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
OTHER = KEY.replace("1234abcd", "5678abcd")
OFF = {"lifecycle_bucket": False, "file_system": False, "node_volumes": False, "logs": False}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([{"resources": ["secrets"], "provider": {"keyArn": KEY}}], ""),
        ([{"resources": ["secrets"], "provider": {"keyArn": OTHER}}], "is not so"),
        ([], "is not so"),
    ],
)
def test_secrets(
    configure: Configure, deployed: Deployed, found: list[dict[str, Any]], told: str
) -> None:
    config = configure({"encryption": {"kms_key_arn": KEY, **OFF}})
    eks = {"describe_cluster": lambda **_name: {"cluster": {"encryptionConfig": found}}}
    outputs = {**OUTPUTS, "ml-platform": {**OUTPUTS["ml-platform"], "EncryptionKeyArn": KEY}}
    (check,) = encryption(deployed(config, outputs=outputs, eks=eks))
    assert (check.found, bool(check.advice)) == (told, bool(told))


def test_nothing_is_asked_for_without_a_key(configure: Configure, deployed: Deployed) -> None:
    assert not [*encryption(deployed(configure({})))]

"""Whether what a key is for is encrypted with it."""

from typing import Any

import pytest

from hyperpod_cli.inspect.verification.subjects.encryption import encryption
from tests.cli.inspect.verification.conftest import OUTPUTS, Deployed, paginated
from tests.support.configs import configure

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
OTHER = KEY.replace("1234abcd", "5678abcd")
WITH_KEY = {**OUTPUTS, "ml-platform": {**OUTPUTS["ml-platform"], "EncryptionKeyArn": KEY}}
OFF = {"lifecycle_bucket": False, "file_system": False, "node_volumes": False, "logs": False}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([{"resources": ["secrets"], "provider": {"keyArn": KEY}}], ""),
        ([{"resources": ["secrets"], "provider": {"keyArn": OTHER}}], "is not so"),
        ([], "is not so"),
    ],
)
def test_secrets(deployed: Deployed, found: list[dict[str, Any]], told: str) -> None:
    config = configure({"encryption": {"kms_key_arn": KEY, **OFF}})
    eks = {"describe_cluster": lambda **_name: {"cluster": {"encryptionConfig": found}}}
    (check,) = encryption(deployed(config, outputs=WITH_KEY, eks=eks))
    assert (check.found, bool(check.advice)) == (told, bool(told))


def test_nothing_is_asked_for_without_a_key(deployed: Deployed) -> None:
    assert not [*encryption(deployed(configure({})))]


@pytest.mark.parametrize(
    ("key", "cluster", "told"),
    [(KEY, "ml-eks", ""), (OTHER, "ml-eks", "not fs-2"), (OTHER, "ml-prod-eks", "")],
)
def test_file_systems_of_claims(deployed: Deployed, key: str, cluster: str, told: str) -> None:
    keys = {**OFF, "eks_secrets": False, "file_system": True}
    config = configure(
        {
            "encryption": {"kms_key_arn": KEY, **keys},
            "storage": {"file_system_id": "fs-0123456789abcdef0", "dynamic_provisioning": True},
        }
    )
    tags = [{"Key": "hyperpod-cdk:cluster", "Value": cluster}]
    found = [{"FileSystemId": "fs-1"}, {"FileSystemId": "fs-2", "KmsKeyId": key, "Tags": tags}]
    pages = paginated(describe_file_systems=[{"FileSystems": [each]} for each in found])

    (check,) = encryption(deployed(config, outputs=WITH_KEY, fsx={"get_paginator": pages}))

    assert (check.found, bool(check.advice)) == (told, bool(told))


ROOT, MORE = {"RootVolume": True, "VolumeKmsKeyId": KEY}, {"VolumeKmsKeyId": KEY}


@pytest.mark.parametrize(
    ("volumes", "told"),
    [
        ([ROOT, MORE], ""),
        ([ROOT, {"VolumeKmsKeyId": OTHER}], "is not so"),
        ([{"RootVolume": True}], "is not so"),
        ([MORE], "is not so"),
        ([], "is not so"),
    ],
)
def test_volumes_of_nodes(deployed: Deployed, volumes: list[dict[str, Any]], told: str) -> None:
    keys = {**OFF, "eks_secrets": False, "node_volumes": True}
    config = configure({"encryption": {"kms_key_arn": KEY, **keys}})
    group = {"InstanceStorageConfigs": [{"EbsVolumeConfig": each} for each in volumes]}
    sagemaker = {"describe_cluster": lambda **_name: {"InstanceGroups": [group]}}
    (check,) = encryption(deployed(config, outputs=WITH_KEY, sagemaker=sagemaker))
    assert check.found == told


@pytest.mark.parametrize(
    ("groups", "days", "told"),
    [
        ([{"kmsKeyId": KEY, "retentionInDays": 30}] * 2, 30, ""),
        ([{"kmsKeyId": KEY}] * 2, None, ""),
        # Without a retention, a group never expires.
        ([{"kmsKeyId": KEY}] * 2, 30, "is not so"),
        ([{"kmsKeyId": KEY}, {}], None, "is not so"),
        ([{"kmsKeyId": KEY}], None, "is not so"),
    ],
)
def test_log_groups(
    deployed: Deployed, groups: list[dict[str, Any]], days: int | None, told: str
) -> None:
    config = configure(
        {
            "encryption": {"kms_key_arn": KEY, **OFF, "eks_secrets": False, "logs": True},
            "log_retention_days": days,
        }
    )
    # With three zones and a key, a platform stack has more resources than DescribeStackResources
    # returns.
    resources = [
        {
            "PhysicalResourceId": f"r{index}",
            "ResourceType": "AWS::Logs::LogGroup" if index >= 102 else "AWS::EC2::Route",
            "LogicalResourceId": "A",
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for index in range(104)
    ]
    pages = [{"StackResourceSummaries": resources[start : start + 100]} for start in (0, 100)]
    named = [{"logGroupName": f"r{102 + index}", **each} for index, each in enumerate(groups)]
    looked = deployed(
        config,
        outputs=WITH_KEY,
        cloudformation={"get_paginator": paginated(list_stack_resources=pages)},
        logs={"get_paginator": paginated(describe_log_groups=[{"logGroups": named}])},
    )
    (check,) = encryption(looked)
    assert check.found == told

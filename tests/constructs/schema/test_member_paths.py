"""The key that a member of a request is made of."""

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.schema.errors import KeyPath, key_path
from hyperpod_cdk.schema.section import key_path_of
from tests.support.configs import EVERY_FIELD


@pytest.mark.parametrize(
    ("member", "key"),
    [
        (("ClusterName",), "name"),
        (("AutoScaling", "AutoScalerType"), "auto_scaling"),
        (("InstanceGroups", 1, "InstanceType"), "instance_groups[1].instance_type"),
        (("InstanceGroups", 0, "KubernetesConfig", "Labels", "pool"), "instance_groups[0].labels"),
        (
            ("InstanceGroups", 1, "AutoPatchConfig", "DrainPolicy", "OnDrainTimeout"),
            "instance_groups[1].auto_patch.drain.on_timeout",
        ),
        # What keys make together is their section's.
        (("InstanceGroups", 0, "InstanceStorageConfigs", 1), "instance_groups[0]"),
    ],
)
def test_the_key_of_a_member(member: KeyPath, key: str) -> None:
    assert key_path(key_path_of(load_config(EVERY_FIELD).cluster, member)) == key

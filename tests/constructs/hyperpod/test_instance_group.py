"""Instance groups: what they take from their cluster, and their shape in the API."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, InstanceGroupConfig, LifecycleConfig, OverrideVpcConfig
from hyperpod_cdk.hyperpod.instance_group import (
    RestrictedInstanceGroupConfig as RestrictedGroup,
)
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from tests.conftest import Raises

ROLE = "arn:aws:iam::111122223333:role/Nodes"
GROUP: dict[str, Any] = {
    "name": "g",
    "instance_type": "ml.m5.large",
    "instance_count": 0,
    "volume_size_gib": None,
}
PROJECT = LifecycleConfig(source_s3_uri="s3://sagemaker-ml/scripts", on_create="on_create.sh")
OWN_SCRIPTS = LifecycleConfig(source_s3_uri="s3://own/scripts", on_init_complete="x.sh")
SUBNETS = {"usw2-az1": "subnet-aaaaaaaa", "usw2-az2": "subnet-bbbbbbbb"}
DEFAULTS = ClusterDefaults(
    execution_role_arn=ROLE,
    security_group_id="sg-aaaaaaaa",
    training_plan_arn=lambda plan: plan,
    subnet_id_in=SUBNETS.__getitem__,
    lifecycle=PROJECT,
)
FILE_SYSTEM = "fs-0123456789abcdef0.fsx.amazonaws.com"
UPDATE = "cron(0 3 ? * SUN *)"


def group(**fields: object) -> InstanceGroupConfig:
    return InstanceGroupConfig(**{**GROUP, **fields})


GROUPS: list[dict[str, Any]] = [
    {},
    {"instance_type": None, "instance_types": ["ml.m5.large"]},
    {"min_instance_count": 0},
    {"capacity": "Spot"},
    {"capacity": "OnDemand"},
    {"execution_role_arn": ROLE},
    {"threads_per_core": 1},
    {"lifecycle": OWN_SCRIPTS},
    {"volume_size_gib": 100},
    {"ebs_volumes": [{"root_volume": True, "kms_key_id": "key"}]},
    {
        "ebs_volumes": [{"volume_size_gib": 1}],
        "fsx_lustre_mounts": [{"dns_name": FILE_SYSTEM, "mount_name": "m"}],
        "fsx_openzfs_mounts": [{"dns_name": FILE_SYSTEM}],
    },
    {"override_vpc": {"subnet_ids": ["subnet-12345678"]}},
    {"labels": {"a": "b"}},
    {"taints": [{"key": "a", "effect": "NoExecute"}]},
    {"scheduled_update": {"schedule_expression": UPDATE}},
    {
        "auto_patch": {
            "strategy": "DrainFirst",
            "deployment": {
                "maximum_batch_size": {"type": "INSTANCE_COUNT", "value": 1},
                "wait_interval_seconds": 0,
            },
            "drain": {"timeout_seconds": 0},
        }
    },
]


@pytest.mark.parametrize("fields", GROUPS, ids=lambda fields: ", ".join(fields) or "least")
def test_what_is_left_out_stays_out_and_zero_stays_in(
    fields: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert group(**fields).to_request() == snapshot


def test_a_restricted_group_may_be_as_short() -> None:
    assert RestrictedGroup(**GROUP).to_request() == group().to_request()


@pytest.mark.parametrize(
    ("types", "threads"),
    [
        ({"instance_type": "ml.g5.12xlarge"}, 2),
        ({"instance_type": "ml.m6g.large"}, 1),
        ({"instance_type": None, "instance_types": ["ml.m5.large", "ml.m6g.large"]}, 1),
        ({"instance_type": "ml.m5.large", "threads_per_core": 1}, 1),
        # No public source describes its hardware.
        ({"instance_type": "ml.p6e-gb200.36xlarge"}, None),
    ],
)
def test_a_group_has_all_the_threads_that_its_types_have(
    types: dict[str, Any], threads: int | None
) -> None:
    assert group(**types).filled_in(DEFAULTS).threads_per_core == threads


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, PROJECT, id="the-projects"),
        pytest.param({"lifecycle": OWN_SCRIPTS}, OWN_SCRIPTS, id="own"),
        pytest.param({"lifecycle": None}, None, id="none"),
    ],
)
def test_a_group_runs_the_clusters_script_unless_it_names_its_own(
    fields: dict[str, Any], expected: LifecycleConfig | None
) -> None:
    assert group(**fields).filled_in(DEFAULTS).lifecycle == expected


@pytest.mark.parametrize("role", [None, f"{ROLE}2"])
def test_a_group_runs_as_the_clusters_role_unless_it_names_its_own(role: str | None) -> None:
    assert group(execution_role_arn=role).filled_in(DEFAULTS).execution_role_arn == (role or ROLE)


@pytest.mark.parametrize("make", [InstanceGroupConfig, RestrictedGroup])
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, None, id="the-clusters"),
        pytest.param(
            {"availability_zone_id": "usw2-az2"},
            ("subnet-bbbbbbbb", "sg-aaaaaaaa"),
            id="of-a-zone",
        ),
        pytest.param(
            {"override_vpc": {"subnet_ids": ["subnet-12345678"]}},
            ("subnet-12345678", "sg-aaaaaaaa"),
            id="own-subnet",
        ),
        pytest.param(
            {
                "override_vpc": {
                    "subnet_ids": ["subnet-12345678"],
                    "security_group_ids": ["sg-12345678"],
                }
            },
            ("subnet-12345678", "sg-12345678"),
            id="all-own",
        ),
    ],
)
def test_a_groups_network(
    make: type[InstanceGroupConfig] | type[RestrictedGroup],
    fields: dict[str, Any],
    expected: tuple[str, str] | None,
) -> None:
    found = make(**{**GROUP, **fields}).filled_in(DEFAULTS).override_vpc

    if expected is None:
        assert found is None
    else:
        subnet, security_group = expected
        assert found == OverrideVpcConfig(
            subnet_ids=(subnet,), security_group_ids=(security_group,)
        )


@pytest.mark.parametrize(
    "fields",
    [
        {"instance_count": -1},
        {"instance_type": "ml.x5.large"},
        {"instance_typ": "ml.m5.large"},
        {"min_instance_count": 1},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_bad_group_is_refused_where_it_is_made(fields: dict[str, Any], raises: Raises) -> None:
    with raises(ConfigError):
        group(**fields)

"""Instance groups in the API's shape: the least there is, and forms that exclude each other."""

from typing import Any

import pytest
from hyperpod_cdk.instance_group import InstanceGroup, Taint, VpcConfig
from hyperpod_cdk.instance_group_request import (
    instance_group_request,
    restricted_instance_group_request,
)
from hyperpod_cdk.instance_storage import EbsVolume, FsxOpenZfsMount
from hyperpod_cdk.restricted_instance_group import RestrictedInstanceGroup
from hyperpod_cdk.software_update import AutoPatch, Deployment, DrainPolicy, ScheduledUpdate

from hyperpod_cdk.hyperpod.lifecycle import LifecycleConfig

ROLE = "arn:aws:iam::111122223333:role/Nodes"
LEAST: dict[str, Any] = {"InstanceGroupName": "g", "InstanceCount": 0, "ExecutionRole": ROLE}


@pytest.mark.parametrize(
    ("fields", "more"),
    [
        ({}, {}),
        ({"instance_type": "ml.m5.large"}, {"InstanceType": "ml.m5.large"}),
        (
            {"instance_types": ["ml.m5.large"]},
            {"InstanceRequirements": {"InstanceTypes": ["ml.m5.large"]}},
        ),
        ({"min_instance_count": 0}, {"MinInstanceCount": 0}),
        ({"capacity": "Spot"}, {"CapacityRequirements": {"Spot": {}}}),
        ({"capacity": "OnDemand"}, {"CapacityRequirements": {"OnDemand": {}}}),
        ({"execution_role_arn": f"{ROLE}2"}, {"ExecutionRole": f"{ROLE}2"}),
        (
            {"lifecycle": LifecycleConfig(source_s3_uri="s3://b", on_init_complete="x.sh")},
            {"LifeCycleConfig": {"SourceS3Uri": "s3://b", "OnInitComplete": "x.sh"}},
        ),
        (
            {"ebs_volumes": [EbsVolume(root_volume=True, kms_key_id="key")]},
            {
                "InstanceStorageConfigs": [
                    {"EbsVolumeConfig": {"VolumeKmsKeyId": "key", "RootVolume": True}}
                ]
            },
        ),
        (
            {
                "ebs_volumes": [EbsVolume(volume_size_gib=1)],
                "fsx_openzfs_mounts": [FsxOpenZfsMount(dns_name="fs")],
            },
            {
                "InstanceStorageConfigs": [
                    {"EbsVolumeConfig": {"VolumeSizeInGB": 1}},
                    {"FsxOpenZfsConfig": {"DnsName": "fs"}},
                ]
            },
        ),
        (
            {"vpc": VpcConfig(subnet_ids=["subnet-1"], security_group_ids=["sg-1"])},
            {"OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}},
        ),
        ({"labels": {"a": "b"}}, {"KubernetesConfig": {"Labels": {"a": "b"}}}),
        (
            {"taints": [Taint(key="a", effect="NoExecute")]},
            {"KubernetesConfig": {"Taints": [{"Key": "a", "Effect": "NoExecute"}]}},
        ),
        (
            {"scheduled_update": ScheduledUpdate(schedule_expression="cron(1)")},
            {"ScheduledUpdateConfig": {"ScheduleExpression": "cron(1)"}},
        ),
        (
            {
                "auto_patch": AutoPatch(
                    strategy="DrainFirst",
                    deployment=Deployment(wait_interval_seconds=0),
                    drain=DrainPolicy(timeout_seconds=0),
                )
            },
            {
                "AutoPatchConfig": {
                    "PatchingStrategy": "DrainFirst",
                    "DeploymentConfig": {"WaitIntervalInSeconds": 0},
                    "DrainPolicy": {"DrainTimeoutInSeconds": 0},
                }
            },
        ),
    ],
)
def test_what_is_left_out_stays_out_and_zero_stays_in(
    fields: dict[str, Any], more: dict[str, Any]
) -> None:
    group = InstanceGroup(name="g", instance_count=0, **fields)

    assert instance_group_request(group, execution_role_arn=ROLE) == LEAST | more


def test_a_restricted_group_may_be_as_short() -> None:
    group = RestrictedInstanceGroup(name="g", instance_count=0, instance_type="ml.p5.48xlarge")

    assert restricted_instance_group_request(group, execution_role_arn=ROLE) == {
        **LEAST,
        "InstanceType": "ml.p5.48xlarge",
    }

"""What a configuration names is there in the local AWS."""

import time
from collections.abc import Mapping
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from hyperpod_emulator.aws.local_aws import (
    ACCOUNT,
    AwsClients,
    LocalAws,
    LocalAwsSettings,
    aws_clients,
)
from hyperpod_emulator.hyperpod import HyperPodApi, HyperPodService
from hyperpod_emulator.node.node import VpcNetwork
from hyperpod_emulator.testing.stacks import delete, deploy, resource
from hyperpod_rehearsal.existing_resources import account_of, existing_resources, named_account
from tests.conftest import Configure
from tests.support.configs import CONFIGS

IAM = "arn:aws:iam::111122223333"
GROUP = {"name": "cpu", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
KEY_ID = "1234abcd-12ab-34cd-56ef-1234567890ab"
KEY = "arn:aws:kms:us-west-2:111122223333:key/99999999-12ab-34cd-56ef-1234567890ab"
ROOT_VOLUME = {"root_volume": True, "kms_key_id": KEY_ID}
SUBNET, FIREWALL = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"
PLACE = {"subnet_ids": [SUBNET], "security_group_ids": [FIREWALL]}
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
RESERVED = {"name": "p5", "instance_type": "ml.p5.48xlarge", "training_plan_arn": PLAN}
SCRIPTS = {"source_s3_uri": "s3://sagemaker-scripts/gpu/", "on_create": "setup.sh"}

NAMED: dict[str, tuple[Mapping[str, Any], list[str]]] = {
    "admins": (
        {"eks": {"admins": [f"{IAM}:role/team/Admin", f"{IAM}:user/Ann"]}},
        [f"IAM role {IAM}:role/team/Admin", f"IAM user {IAM}:user/Ann"],
    ),
    "writers": (
        {"lifecycle_scripts": {"writers": [f"{IAM}:role/CI"]}},
        [f"IAM role {IAM}:role/CI"],
    ),
    "one role for two groups": (
        {
            "cluster": {
                "instance_groups": [
                    {**GROUP, "execution_role_arn": f"{IAM}:role/Nodes"},
                    {**GROUP, "name": "more", "execution_role_arn": f"{IAM}:role/Nodes"},
                ]
            }
        },
        [f"IAM role {IAM}:role/Nodes"],
    ),
    "role of autoscaling": (
        {
            "cluster": {
                "auto_scaling": "Karpenter",
                "role_arn": f"{IAM}:role/Scaling",
                "instance_groups": [{**GROUP, "instance_count": 0}],
            }
        },
        [f"IAM role {IAM}:role/Scaling"],
    ),
    "data repository": (
        {"storage": {"data_repositories": [{"s3_uri": "s3://training-data/set"}]}},
        ["S3 bucket training-data"],
    ),
    "keys": (
        {
            "eks": {"secrets_kms_key_arn": KEY},
            "cluster": {
                "instance_groups": [
                    {**GROUP, "ebs_volumes": [{"volume_size_gib": 500, "kms_key_id": KEY}]},
                    {**GROUP, "name": "more", "ebs_volumes": [ROOT_VOLUME]},
                ]
            },
        },
        [f"KMS key {KEY}", f"KMS key {KEY_ID}"],
    ),
    "training plan": (
        {
            "cluster": {
                "instance_groups": [
                    {**RESERVED, "instance_count": 3},
                    {**RESERVED, "name": "more", "instance_count": 1},
                ]
            }
        },
        [f"Training plan {PLAN}, 8 ml.p5.48xlarge in usw2-az2"],
    ),
    "network of a group": (
        {
            "cluster": {
                "instance_groups": [
                    {**GROUP, "override_vpc": {"subnet_ids": [SUBNET]}},
                    {
                        **GROUP,
                        "name": "more",
                        "override_vpc": PLACE,
                    },
                ]
            }
        },
        [
            f"Subnet {SUBNET}, 10.192.0.0/26 in the deployment's VPC",
            f"Security group {FIREWALL} in the deployment's VPC",
        ],
    ),
    "scripts": (
        {
            "cluster": {
                "instance_groups": [
                    {**GROUP, "lifecycle": SCRIPTS},
                    {**GROUP, "name": "same", "lifecycle": SCRIPTS},
                    {**GROUP, "name": "more", "lifecycle": {**SCRIPTS, "on_create": "a/b.sh"}},
                ]
            }
        },
        ["S3 bucket sagemaker-scripts, gpu/setup.sh, gpu/a/b.sh"],
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_what_is_named_is_listed(case: str, configure: Configure) -> None:
    changes, expected = NAMED[case]
    assert [str(stand_in) for stand_in in existing_resources(configure(changes))] == expected


def test_nothing_is_made_for_the_default(default_config: Config) -> None:
    assert existing_resources(default_config) == []
    assert account_of(default_config) == ACCOUNT


@pytest.mark.parametrize("case", ["admins", "keys", "training plan"])
def test_any_arn_names_the_account(case: str, configure: Configure) -> None:
    assert account_of(configure(NAMED[case][0])) == "111122223333"


def test_one_local_aws_holds_every_shipped_configuration() -> None:
    named = {named_account(load_config(path)) for path in CONFIGS}
    assert named == {None, "111122223333"}


def test_the_account_is_the_one_named_most(configure: Configure) -> None:
    other = "arn:aws:iam::444455556666:role/Other"
    config = configure({"eks": {"admins": [other, f"{IAM}:role/A", f"{IAM}:role/B"]}})
    assert account_of(config) == "111122223333"


def vpcs_of_the_place(clients: AwsClients) -> set[str]:
    """Return the VPC of the subnet and that of the security group."""
    ec2 = clients("ec2")
    [subnet] = ec2.describe_subnets(SubnetIds=[SUBNET])["Subnets"]
    [group] = ec2.describe_security_groups(GroupIds=[FIREWALL])["SecurityGroups"]
    return {subnet["VpcId"], group["VpcId"]}


@pytest.mark.parametrize("region", ["us-west-2", "us-east-1"])
def test_it_can_be_used(region: str, configure: Configure) -> None:
    config = configure(
        {
            "eks": {"admins": [f"{IAM}:role/team/Admin", f"{IAM}:user/Ann"]},
            "cluster": {
                "instance_groups": [
                    {**GROUP, "lifecycle": SCRIPTS, "ebs_volumes": [ROOT_VOLUME]},
                    {**GROUP, "name": "placed", "override_vpc": PLACE},
                    {**RESERVED, "instance_count": 1},
                ]
            },
        }
    )

    def asked(service: str) -> Any:  # noqa: ANN401 - see AwsClients
        return clients(service)

    with (
        HyperPodApi(service=HyperPodService(clock=time.time, network=VpcNetwork(asked))) as api,
        LocalAws(
            LocalAwsSettings(account=account_of(config), region=region, hyperpod_api=api.url)
        ) as aws,
    ):
        clients = aws_clients(aws)
        for stand_in in [*existing_resources(config), *existing_resources(config)]:
            stand_in.make(clients)
        assert clients("iam").get_role(RoleName="Admin")["Role"]["Arn"] == f"{IAM}:role/team/Admin"
        assert clients("iam").get_user(UserName="Ann")["User"]["Arn"] == f"{IAM}:user/Ann"
        assert clients("s3").head_object(Bucket="sagemaker-scripts", Key="gpu/setup.sh")
        vpc = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.192.0.0/16")}
        stack = deploy(aws, vpc, {"Vpc": {"Ref": "Vpc"}})
        assert vpcs_of_the_place(clients) == {stack.outputs["Vpc"]}
        delete(aws, stack)
        key = clients("kms").describe_key(KeyId=KEY_ID)["KeyMetadata"]
        assert key["Arn"] == f"arn:aws:kms:{region}:111122223333:key/{KEY_ID}"
        plan = clients("sagemaker").describe_training_plan(TrainingPlanName="p5")
        assert (plan["TotalInstanceCount"], plan["TargetResources"]) == (2, ["hyperpod-cluster"])
        [capacity] = plan["ReservedCapacitySummaries"]
        assert capacity["AvailabilityZone"] == f"{region}{'b' if region == 'us-west-2' else 'a'}"

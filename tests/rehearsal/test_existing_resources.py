"""What a configuration names is there in the local AWS."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from hyperpod_cdk import Config, load_config
from hyperpod_cli.terminal.errors import OpsError
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
from hyperpod_rehearsal.existing_resources.networks import free_blocks
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


def _groups(*groups: Mapping[str, Any], **cluster: Any) -> Mapping[str, Any]:
    return {"cluster": {**cluster, "instance_groups": [*groups]}}


ROLE = {"execution_role_arn": f"{IAM}:role/Nodes"}
NAMED: Mapping[str, Mapping[str, Any]] = {
    "admins": {"eks": {"admins": [f"{IAM}:role/team/Admin", f"{IAM}:user/Ann"]}},
    "writers": {"lifecycle_scripts": {"writers": [f"{IAM}:role/CI"]}},
    "one role for two groups": _groups({**GROUP, **ROLE}, {**GROUP, **ROLE, "name": "more"}),
    "role of autoscaling": _groups(
        {**GROUP, "instance_count": 0}, auto_scaling="Karpenter", role_arn=f"{IAM}:role/Scaling"
    ),
    "data repository": {"storage": {"data_repositories": [{"s3_uri": "s3://training-data/set"}]}},
    "keys": {
        "eks": {"secrets_kms_key_arn": KEY},
        **_groups(
            {**GROUP, "ebs_volumes": [{"volume_size_gib": 500, "kms_key_id": KEY}]},
            {**GROUP, "name": "more", "ebs_volumes": [ROOT_VOLUME]},
        ),
    },
    "training plan": _groups(
        {**RESERVED, "instance_count": 3}, {**RESERVED, "name": "more", "instance_count": 1}
    ),
    "network of a group": _groups(
        {**GROUP, "override_vpc": {"subnet_ids": [SUBNET]}},
        {**GROUP, "name": "more", "override_vpc": PLACE},
    ),
    "scripts": _groups(
        {**GROUP, "lifecycle": SCRIPTS},
        {**GROUP, "name": "same", "lifecycle": SCRIPTS},
        {**GROUP, "name": "more", "lifecycle": {**SCRIPTS, "on_create": "a/b.sh"}},
    ),
}


ADMIN = "arn:aws:iam::111122223333:role/Admin"


def test_what_is_said_to_be_missing_is_left_out(configure: Configure) -> None:
    config = configure({"eks": {"admins": [ADMIN, f"{ADMIN}2"]}})

    assert [str(each) for each in existing_resources(config, missing=[ADMIN])] == [
        f"IAM role {ADMIN}2"
    ]
    with pytest.raises(OpsError, match="--missing: 'other' is not what"):
        existing_resources(config, missing=["other"])


def test_what_is_named_is_listed(configure: Configure, snapshot: SnapshotAssertion) -> None:
    listed = {
        case: [str(each) for each in existing_resources(configure(changes))]
        for case, changes in NAMED.items()
    }
    assert listed == snapshot(extension_class=JSONSnapshotExtension)


def test_a_vpc_has_room_beside_a_subnet_of_its_largest_size(configure: Configure) -> None:
    network = {
        "vpc_id": "vpc-0123456789abcdef0",
        "vpc_cidr": None,
        "eks_subnet_ids": [SUBNET, SUBNET.replace("f0", "f1")],
        "eks_subnet_cidrs": [],
        "nat_gateway_ids": ["nat-0123456789abcdef0"],
        "public_subnet_cidrs": [],
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az2"}],
    }
    assert [*free_blocks(configure({"network": network}).network, prefix_length=28)]


def test_nothing_is_made_for_the_default(default_config: Config) -> None:
    assert existing_resources(default_config) == []
    assert account_of(default_config) == ACCOUNT


@pytest.mark.parametrize("case", ["admins", "keys", "training plan"])
def test_any_arn_names_the_account(case: str, configure: Configure) -> None:
    assert account_of(configure(NAMED[case])) == "111122223333"


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
            **_groups(
                {**GROUP, "lifecycle": SCRIPTS, "ebs_volumes": [ROOT_VOLUME]},
                {**GROUP, "name": "placed", "override_vpc": PLACE},
                {**RESERVED, "instance_count": 1},
            ),
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

"""What exists already is judged alike wherever it is named: by the mark of the key."""

from typing import get_args

import pytest

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.arns import (
    BucketName,
    FileSystemId,
    InternetGatewayId,
    KmsKeyArn,
    NatGatewayId,
    PlacementGroupName,
    PrincipalArn,
    PrometheusWorkspaceArn,
    RoleArn,
    RouteTableId,
    SecurityGroupId,
    SnsTopicArn,
    SubnetId,
)
from hyperpod_cdk.schema.named_resources import Kind, Names, named_resources
from hyperpod_cdk.schema.section import Section
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validator import Target
from tests.cli.inspect.preflight.cases.network import EXISTING
from tests.cli.inspect.preflight.conftest import ACCOUNT, REGION
from tests.constructs.config.test_named_resources import fields
from tests.support.assembly import merged

_ID = "0ffffffffffffffff"
NOTHING = {
    "subnet": f"subnet-{_ID}",
    "security_group": f"sg-{_ID}",
    "route_table": f"rtb-{_ID}",
    "nat_gateway": f"nat-{_ID}",
    "internet_gateway": f"igw-{_ID}",
    "role": f"arn:aws:iam::{ACCOUNT}:role/Nothing",
    "principal": f"arn:aws:iam::{ACCOUNT}:user/nothing",
    "kms_key": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "bucket": "nothing-is-named-so",
    "file_system": f"fs-{_ID}",
    "topic": f"arn:aws:sns:{REGION}:{ACCOUNT}:nothing",
    "placement_group": "nothing-is-named-so",
    "workspace": f"arn:aws:aps:{REGION}:{ACCOUNT}:workspace/ws-nothing",
}
# A validator of these reads the keys themselves: another key needs a look-up by the mark first.
ONE_KEY = {
    "VPC": {"NetworkConfig.vpc_id"},
    "training plan": {
        "InstanceGroupConfig.training_plan_arn",
        "RestrictedInstanceGroupConfig.training_plan_arn",
    },
    "EKS cluster": {"EksConfig.cluster_arn"},
    "secret": {"AccountingConfig.secret_arn"},
    "Grafana workspace": {"GrafanaConfig.workspace_arn"},
    "capacity reservations": {
        "ManagedNodeGroupConfig.capacity_reservation_id",
        "ManagedNodeGroupConfig.capacity_reservation_resource_group_arn",
    },
    "OIDC provider": {"EksConfig.oidc_provider_arn"},
}


class FurtherKeys(Section):
    """Keys that no validator knows."""

    subnet: SubnetId
    """A subnet."""
    security_group: SecurityGroupId
    """A security group."""
    route_table: RouteTableId
    """A route table."""
    nat_gateway: NatGatewayId
    """A NAT gateway."""
    internet_gateway: InternetGatewayId
    """An internet gateway."""
    role: RoleArn
    """A role."""
    principal: PrincipalArn
    """A user."""
    kms_key: KmsKeyArn
    """A key."""
    bucket: BucketName
    """A bucket."""
    file_system: FileSystemId
    """A file system."""
    topic: SnsTopicArn
    """A topic."""
    placement_group: PlacementGroupName
    """A placement group."""
    workspace: PrometheusWorkspaceArn
    """A workspace."""


class ConfigWithFurtherKeys(Config):
    """A configuration with those keys."""

    further: FurtherKeys
    """What nothing else names."""


@pytest.fixture(scope="module")
def vpc_id(target: Target) -> str:
    ec2 = target.client("ec2")
    return str(ec2.create_vpc(CidrBlock="10.40.0.0/16")["Vpc"]["VpcId"])


@pytest.mark.slow(seconds=1)
def test_a_further_key_has_the_validators_of_its_kind(target: Target, vpc_id: str) -> None:
    document = merged({**EXISTING, "further": NOTHING}, {"network": {"vpc_id": vpc_id}})
    config = ConfigWithFurtherKeys.model_validate(document)

    found = {
        finding.path
        for validator in VALIDATORS.values()
        if validator.names
        for finding, _ in validator(config, target)
    }

    named = [*named_resources(config.further, path=("further",))]
    assert len(named) == len(NOTHING)
    assert [each.path for each in named if each.path not in found] == []


def test_each_kind_has_a_validator_of_all_its_keys() -> None:
    keys: dict[str, set[str]] = {}
    for name, marks in fields(Config):
        for mark in marks:
            if isinstance(mark, Names):
                keys.setdefault(mark.kind, set()).add(name)

    assert keys.keys() == {*get_args(Kind)}
    config = ConfigWithFurtherKeys.model_validate({**EXISTING, "further": NOTHING})
    by_mark = {each.kind for each in named_resources(config.further)}
    assert {kind: places for kind, places in keys.items() if kind not in by_mark} == ONE_KEY
    assert by_mark <= {kind for validator in VALIDATORS.values() for kind in validator.names}

"""Each type of resource that is deployed is free, or named in the cost of a configuration."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.cost import cost
from tests.conftest import Assemble
from tests.support.assembly import Assembly
from tests.support.configs import CONFIGS

_FREE = {
    "AWS::EC2::FlowLog",  # its records are logs
    "AWS::EC2::InternetGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::EKS::AccessEntry",
    "AWS::EKS::Addon",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::FSx::DataRepositoryAssociation",  # the files are billed in S3 and FSx
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::KMS::Alias",
    "AWS::Lambda::LayerVersion",
    "AWS::S3::BucketPolicy",
    "Custom::DeletionCheck",
    "Custom::EksAuthenticationMode",
    "Custom::FileSystemAvailability",
    "Custom::HelmRelease",
    "Custom::HyperPodCluster",  # the nodes are billed, and are charges of their own
    "Custom::LifecycleScripts",
    "gateway endpoint",
}
_BILLED: Mapping[str, str] = {
    "AWS::EC2::EIP": "public IPv4 address",
    "AWS::EC2::NatGateway": "NAT gateway",
    "AWS::EKS::Cluster": "EKS control plane",
    "AWS::KMS::Key": "KMS key",
    "AWS::Lambda::Function": "Lambda and Step Functions",
    "AWS::Logs::LogGroup": "logs (",
    "AWS::S3::Bucket": "S3",
    "AWS::StepFunctions::StateMachine": "Lambda and Step Functions",
    "interface endpoint": "interface endpoint",
    "FSx for Lustre": "FSx for Lustre",
    "FSx for OpenZFS": "FSx for OpenZFS",
}
"""What names it, in a charge or under what is not included."""


def kinds(assembly: Assembly) -> Iterator[str]:
    """Yield the type of each resource of a configuration, or its kind where that decides."""
    for template in assembly.texts().values():
        for resource in json.loads(template)["Resources"].values():
            properties = resource.get("Properties", {})
            match resource["Type"]:
                case "AWS::EC2::VPCEndpoint":
                    yield f"{properties.get('VpcEndpointType', 'Gateway').lower()} endpoint"
                case "AWS::FSx::FileSystem":
                    names = {"LUSTRE": "Lustre", "OPENZFS": "OpenZFS"}
                    yield f"FSx for {names[properties['FileSystemType']]}"
                case other:
                    yield other


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_what_is_billed_is_a_charge_or_said_to_be_left_out(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    found = cost(config, region=None, day=date(2026, 10, 6))
    named = "\n".join([*(charge.name for charge in found.standing), *found.left_out])

    there = {*kinds(assemble(config))} - _FREE
    unknown = there - _BILLED.keys()
    assert not unknown, (
        "is it billed? then a charge, or a text of what is left out, in "
        "constructs/hyperpod_cdk/cost/cost.py, and its words in _BILLED; else _FREE"
    )
    missing = {kind for kind in there if _BILLED[kind] not in named}
    assert not missing, "constructs/hyperpod_cdk/cost/cost.py does not name what is billed"

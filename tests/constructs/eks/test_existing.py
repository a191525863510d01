"""An EKS cluster that exists: what is added to it, and what is refused beside it."""

from typing import Any

import pytest
from aws_cdk.assertions import Match
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, load_config
from tests.conftest import Configure, Synthesize
from tests.support.configs import EXISTING_CONTROL_PLANE
from tests.support.refusals import lines_for

ARN = "arn:aws:eks:us-west-2:111122223333:cluster/research"
NETWORK = {
    "vpc_id": "vpc-0123456789abcdef0",
    "hyperpod_subnets": [
        {"subnet_id": "subnet-0123456789abcdef0", "availability_zone_id": "usw2-az2"}
    ],
    "security_group_id": "sg-0123456789abcdef0",
}


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config(EXISTING_CONTROL_PLANE)


def with_eks(config: Config, **values: Any) -> Config:
    return config.model_copy(update={"eks": config.eks.model_copy(update=values)})


def test_without_addons_that_need_nodes_there_is_no_stack_of_them(
    config: Config, synthesize: Synthesize
) -> None:
    found = synthesize(with_eks(config, addons=(), set_authentication_mode=False))
    assert set(found) == {"reuse-platform", "reuse-storage", "reuse-hyperpod"}
    found["reuse-platform"].resource_count_is("AWS::EKS::Addon", 0)
    found["reuse-platform"].resource_count_is("Custom::EksAuthenticationMode", 0)


@pytest.mark.parametrize("addon", ["aws-fsx-csi-driver", "coredns"])
def test_a_driver_that_is_there_keeps_its_role(
    config: Config, synthesize: Synthesize, addon: str
) -> None:
    assert config.storage is not None
    storage = config.storage.model_copy(update={"dynamic_provisioning": True})
    with_driver = with_eks(config, addons=(addon,)).model_copy(update={"storage": storage})
    is_ours = addon == "aws-fsx-csi-driver"

    addons = synthesize(with_driver)["reuse-addons"]

    addons.resource_count_is("AWS::EKS::PodIdentityAssociation", int(is_ours))
    addons.resource_count_is("AWS::IAM::Role", int(is_ours))


def test_every_access_entry_waits_for_the_mode(config: Config, synthesize: Synthesize) -> None:
    admin = "arn:aws:iam::111122223333:role/Admin"
    platform = synthesize(with_eks(config, admins=(admin,)))["reuse-platform"]
    (mode,) = platform.find_resources("Custom::EksAuthenticationMode")
    entries = platform.find_resources("AWS::EKS::AccessEntry")
    assert len(entries) == 2
    for entry in entries.values():
        assert mode in entry["DependsOn"]
    platform.has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": {
                "Statement": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "Action": ["eks:DescribeCluster", "eks:UpdateClusterConfig"],
                                "Sid": "SetAuthenticationMode",
                            }
                        )
                    ]
                )
            }
        },
    )


@pytest.mark.parametrize(("access", "in_vpc"), [("private", True), ("public_and_private", False)])
def test_the_provisioner_follows_the_endpoint(
    config: Config, synthesize: Synthesize, access: str, *, in_vpc: bool
) -> None:
    platform = synthesize(with_eks(config, endpoint_access=access))["reuse-platform"]
    functions = platform.find_resources("AWS::Lambda::Function").values()
    placed = [each for each in functions if "VpcConfig" in each["Properties"]]
    assert bool(placed) is in_vpc


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"eks": {"cluster_arn": ARN}}, "network.vpc_id"),
        (
            {
                "eks": {"cluster_arn": ARN},
                "network": {k: v for k, v in NETWORK.items() if k != "security_group_id"},
            },
            "network.security_group_id",
        ),
        (
            {
                "eks": {"cluster_arn": ARN},
                "network": {**NETWORK, "eks_subnet_cidrs": ["10.0.0.0/28", "10.0.1.0/28"]},
            },
            "network.eks_subnet_cidrs",
        ),
        ({"network": NETWORK}, "network.eks_subnet_ids"),
        (
            {"eks": {"cluster_arn": ARN, "cluster_name": "other"}, "network": NETWORK},
            "eks.cluster_name",
        ),
        (
            {"eks": {"cluster_arn": ARN, "deletion_protection": True}, "network": NETWORK},
            "eks.deletion_protection",
        ),
        ({"eks": {"set_authentication_mode": True}}, "eks.set_authentication_mode"),
        ({"eks": {"addons": ["coredns"]}}, "eks.addons"),
        (
            {"eks": {"cluster_arn": ARN, "addons": ["coredns", "coredns"]}, "network": NETWORK},
            "eks.addons[1]",
        ),
        (
            {"eks": {"cluster_arn": "arn:aws:eks:eu-west-1:111122223333:cluster/x"}},
            "eks.cluster_arn",
        ),
        ({"eks": {"cluster_arn": "research"}}, "eks.cluster_arn"),
        ({"eks": {"cluster_name": "-x"}}, "eks.cluster_name"),
    ],
)
def test_what_does_not_go_together_is_told(
    changes: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    document = {
        "name": "ml",
        "region": "us-west-2",
        "cluster": {
            "instance_groups": [
                {"name": "a", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
            ]
        },
        **changes,
    }
    lines = lines_for(document)
    assert place in [line.partition(": ")[0] for line in lines]
    assert lines == snapshot


def test_the_name_of_one_that_exists_is_in_its_arn(config: Config, configure: Configure) -> None:
    assert config.eks_cluster_name == "research"
    assert configure({}).eks_cluster_name == "ml-eks"
    assert configure({"eks": {"cluster_name": "own"}}).eks_cluster_name == "own"

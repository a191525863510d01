"""EKS node groups as CloudFormation sees them, and refused values of the section."""

from collections.abc import Callable, Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, ManagedNodeGroupConfig, NodeGroups
from hyperpod_cdk.network.subnets import NodeSubnets
from hyperpod_cli.stack_progress import fixed_values
from tests.constructs.conftest import View

Json = Mapping[str, Any]
Make = Callable[..., tuple[Json, Json]]
RESERVATION = "cr-0123456789abcdef0"
GROUP_ARN = "arn:aws:resource-groups:us-west-2:111122223333:group/p4d"


def _section(types: list[str], **changes: Any) -> ManagedNodeGroupConfig:
    values = {"name": "gpu", "instance_types": types, "desired_size": 2, **changes}
    return ManagedNodeGroupConfig(**values)


@pytest.fixture
def made(
    stack: cdk.Stack, eks_cluster: eks.ICluster, node_subnets: NodeSubnets, view: View
) -> Make:
    """Return a function that makes a group, and returns its node group and template's data."""

    def make(types: list[str], **changes: Any) -> tuple[Json, Json]:
        vpc = ec2.Vpc.from_vpc_attributes(
            stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["a", "b"]
        )
        NodeGroups(
            stack,
            "NodeGroups",
            cluster=eks_cluster,
            groups=[_section(types, **changes)],
            kubernetes_version="1.34",
            vpc=vpc,
            subnets=node_subnets,
            security_group=ec2.SecurityGroup.from_security_group_id(
                stack, "Group", "sg-0123456789abcdef0"
            ),
            volume_key=kms.Key.from_key_arn(
                stack, "Key", "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
            ),
            instance_tags={"team": "research"},
        )
        seen = view()
        return (
            seen.one("AWS::EKS::Nodegroup"),
            seen.one("AWS::EC2::LaunchTemplate")["LaunchTemplateData"],
        )

    return make


def _interfaces(data: Json) -> list[tuple[Any, ...]]:
    keys = ("NetworkCardIndex", "DeviceIndex", "InterfaceType")
    return [tuple(each[key] for key in keys) for each in data.get("NetworkInterfaces", ())]


def test_p6_b300_has_no_efa_on_its_first_card(made: Make) -> None:
    _, data = made(["p6-b300.48xlarge"])
    assert _interfaces(data) == [
        (0, 0, "interface"),
        *((card, 0, "efa-only") for card in range(1, 17)),
    ]


def test_cpu_nodes_are_plain_and_in_every_subnet(made: Make) -> None:
    group, data = made(["c5.2xlarge"], taints=[{"key": "team", "effect": "NoExecute"}])
    assert not {"NetworkInterfaces", "Placement", "UserData"} & data.keys()
    assert data["SecurityGroupIds"] == ["sg-0123456789abcdef0"]
    assert group["AmiType"] == "AL2023_x86_64_STANDARD"
    assert group["UpdateConfig"]["UpdateStrategy"] == "DEFAULT"
    assert len(group["Subnets"]) == 2
    assert group["Taints"] == [{"Key": "team", "Effect": "NO_EXECUTE"}]


@pytest.mark.parametrize(
    ("instance_type", "ami"),
    [
        ("p5.48xlarge", "AL2023_x86_64_NVIDIA"),
        ("g5.12xlarge", "AL2023_x86_64_NVIDIA"),
        ("trn1.32xlarge", "AL2023_x86_64_NEURON"),
        ("c7g.16xlarge", "AL2023_ARM_64_STANDARD"),
    ],
)
def test_ami_fits_the_hardware(made: Make, instance_type: str, ami: str) -> None:
    assert made([instance_type])[0]["AmiType"] == ami


@pytest.mark.parametrize(
    ("changes", "target", "strategy"),
    [
        ({}, None, "MINIMAL"),
        (
            {"capacity_reservation_id": RESERVATION},
            {"CapacityReservationId": RESERVATION},
            "MINIMAL",
        ),
        (
            {"capacity_reservation_resource_group_arn": GROUP_ARN, "update_strategy": "DEFAULT"},
            {"CapacityReservationResourceGroupArn": GROUP_ARN},
            "DEFAULT",
        ),
    ],
)
def test_nodes_run_in_their_reservation(
    made: Make, changes: dict[str, str], target: Json | None, strategy: str
) -> None:
    group, data = made(["p4d.24xlarge"], **changes)
    reserved = data.get("CapacityReservationSpecification", {})
    assert reserved.get("CapacityReservationTarget") == target
    assert group["CapacityType"] == "ON_DEMAND"
    assert group["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": strategy}


def test_nodes_are_in_an_existing_placement_group(made: Make, stack: cdk.Stack) -> None:
    _, data = made(["p4d.24xlarge"], placement_group="near")
    assert data["Placement"] == {"GroupName": "near"}
    Template.from_stack(stack).resource_count_is("AWS::EC2::PlacementGroup", 0)


def test_a_capacity_block_has_its_type_in_the_launch_template(made: Make) -> None:
    group, data = made(
        ["p5.48xlarge"], capacity="CapacityBlock", capacity_reservation_id=RESERVATION
    )
    assert (group["CapacityType"], data["InstanceType"]) == ("CAPACITY_BLOCK", "p5.48xlarge")
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert "InstanceTypes" not in group
    # With another one EKS would refuse whatever changes while it has nodes.
    assert "Version" not in group
    assert "Placement" not in data


@pytest.mark.parametrize(
    ("types", "changes", "zones"),
    [
        (["c5.2xlarge"], {}, "usw2-az1, usw2-az2"),
        (["c5.2xlarge"], {"availability_zone_id": "usw2-az2"}, "usw2-az2"),
        (["c5.2xlarge"], {"placement_group": True}, "usw2-az1"),
        (["c5.2xlarge"], {"placement_group": "near"}, "usw2-az1"),
        # The zone that it is in already.
        (["p4d.24xlarge"], {}, "usw2-az1"),
        (["p4d.24xlarge"], {"availability_zone_id": "usw2-az1"}, "usw2-az1"),
        (["p4d.24xlarge"], {"efa": False, "placement_group": False}, "usw2-az1, usw2-az2"),
    ],
)
def test_a_group_that_is_there_stays_in_its_zones(
    made: Make, stack: cdk.Stack, types: list[str], changes: dict[str, Any], zones: str
) -> None:
    made(types, **changes)
    template = Template.from_stack(stack).to_json()
    (name,) = (
        key
        for key, parameter in template["Parameters"].items()
        if ".availability_zone_id as" in parameter.get("Description", "")
    )
    assert template["Parameters"][name]["Default"] == zones
    held = {name: "usw2-az3"}
    (found,) = fixed_values.changes(template, parameters=held)
    assert found.key == "node_groups[0] (gpu).availability_zone_id"
    assert "('usw2-az3')" in str(found)


def test_efa_stays_which_is_in_labels_and_launch_template(
    made: Make, stack: cdk.Stack, snapshot: SnapshotAssertion
) -> None:
    made(["p4d.24xlarge"])
    template = Template.from_stack(stack).to_json()
    (name,) = (
        key
        for key, parameter in template["Parameters"].items()
        if ".efa as" in parameter.get("Description", "")
    )
    (found,) = fixed_values.changes(template, parameters={name: "false"})
    assert str(found) == snapshot


@pytest.mark.parametrize(
    ("types", "changes", "expected"),
    [
        (["c5.2xlarge"], {}, {"Name": "gpu", "team": "research"}),
        (
            ["p5.48xlarge"],
            {"capacity": "CapacityBlock", "capacity_reservation_id": RESERVATION},
            {"Name": "gpu"},
        ),
    ],
)
def test_instances_have_the_tags_but_those_of_a_capacity_block(
    made: Make, types: list[str], changes: dict[str, Any], expected: dict[str, str]
) -> None:
    _, data = made(types, **changes)
    for kind in ("instance", "volume"):
        (tags,) = (e["Tags"] for e in data["TagSpecifications"] if e["ResourceType"] == kind)
        found = {each["Key"]: each["Value"] for each in tags if ":" not in each["Key"]}
        assert found == expected


def test_a_domain_that_ends_alike_is_nobody_elses() -> None:
    assert _section(["c5.2xlarge"], labels={"mykubernetes.io/x": "y"}).labels


@pytest.mark.parametrize(
    ("types", "changes", "place"),
    [
        (["ml.p4d.24xlarge"], {}, "instance_types[0]"),
        (["p4d.24xlrge"], {}, "instance_types[0]"),
        ([], {}, "instance_types"),
        (["c5.2xlarge", "c5.2xlarge"], {}, "instance_types[1]"),
        (["c5.2xlarge", "c7g.16xlarge"], {}, "instance_types"),
        (["c5.2xlarge", "g5.xlarge"], {}, "instance_types"),
        (["p4d.24xlarge", "p5.48xlarge"], {}, "instance_types"),
        (["c5.2xlarge"], {"efa": True}, "efa"),
        (["c5.2xlarge"], {"raid0": True}, "raid0"),
        (["c5.2xlarge"], {"min_size": 3}, "min_size"),
        (["c5.2xlarge"], {"max_size": 1}, "max_size"),
        (
            ["c5.2xlarge"],
            {"capacity": "Spot", "capacity_reservation_id": RESERVATION},
            "capacity_reservation_id",
        ),
        (["p5.48xlarge"], {"capacity": "CapacityBlock"}, "capacity_reservation_id"),
        (
            ["c5.2xlarge"],
            {
                "capacity_reservation_id": RESERVATION,
                "capacity_reservation_resource_group_arn": GROUP_ARN,
            },
            "capacity_reservation_resource_group_arn",
        ),
        (["c5.2xlarge", "c5.4xlarge"], {"capacity_reservation_id": RESERVATION}, "instance_types"),
        *(
            (["c5.2xlarge"], {"labels": {f"{domain}/x": "y"}}, f"labels['{domain}/x']")
            for domain in ("kubernetes.io", "node.kubernetes.io")
        ),
        (["c5.2xlarge"], {"taints": [{"key": "a", "effect": "NoExecute"}] * 2}, "taints[1].key"),
        (
            ["c5.2xlarge"],
            {"taints": [{"key": f"a{n}", "effect": "NoExecute"} for n in range(51)]},
            "taints",
        ),
        (["c5.2xlarge"], {"name": "-gpu"}, "name"),
        (["c5.2xlarge"], {"release_version": "v20251112"}, "release_version"),
        (["c5.2xlarge"], {"max_size": 451}, "max_size"),
    ],
)
def test_refused(
    types: list[str], changes: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(ConfigError) as refused:
        _section(types, **changes)

    (line,) = refused.value.lines
    assert line.startswith(f"ManagedNodeGroupConfig.{place}: ")
    assert line == snapshot

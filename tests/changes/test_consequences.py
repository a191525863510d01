"""What a change of templates does, on templates of a few resources."""

from typing import Any

import pytest

from tests.changes.consequences import consequences

Resources = dict[str, Any]


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


def subnet(cidr: str = "10.0.0.0/24", zone: str = "usw2-az1") -> dict[str, Any]:
    return resource(
        "AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock=cidr, AvailabilityZoneId=zone
    )


def entry(principal: str) -> dict[str, Any]:
    return resource("AWS::EKS::AccessEntry", ClusterName="ml-eks", PrincipalArn=principal)


def link(location: str) -> dict[str, Any]:
    return resource(
        "AWS::FSx::DataRepositoryAssociation",
        FileSystemId="fs",
        FileSystemPath="/s3",
        DataRepositoryPath=location,
    )


VPC = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")}
WIDER = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/15")}
BUCKET = resource("AWS::S3::Bucket", BucketName="scripts")
CASES: dict[str, tuple[Resources, Resources, dict[str, str]]] = {
    "nothing": (VPC, VPC, {}),
    "a create-only property": (VPC, WIDER, {"platform/AWS::EC2::VPC": "replace"}),
    "another property": (
        VPC,
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", EnableDnsSupport=True)},
        {"platform/AWS::EC2::VPC": "update"},
    ),
    "what refers to a replaced resource": (
        {**VPC, "Subnet": subnet()},
        {**WIDER, "Subnet": subnet()},
        {"platform/AWS::EC2::Subnet": "replace", "platform/AWS::EC2::VPC": "replace"},
    ),
    "another zone, the same addresses": (
        {**VPC, "Subnet": subnet()},
        {**VPC, "Subnet": subnet(zone="usw2-az2")},
        {"platform/AWS::EC2::Subnet": "fail"},
    ),
    "other addresses": (
        {**VPC, "Subnet": subnet()},
        {**VPC, "Subnet": subnet(cidr="10.0.1.0/24")},
        {"platform/AWS::EC2::Subnet": "replace"},
    ),
    "a new subnet among the addresses of one that goes": (
        {**VPC, "Subnet": subnet()},
        {**VPC, "Other": subnet(cidr="10.0.0.0/25")},
        {"platform/AWS::EC2::Subnet": "fail"},
    ),
    "access entries that move up": (
        {"First": entry("alice"), "Second": entry("bob")},
        {"First": entry("bob")},
        {"platform/AWS::EKS::AccessEntry": "fail"},
    ),
    "an access entry fewer": (
        {"First": entry("alice"), "Second": entry("bob")},
        {"First": entry("alice")},
        {"platform/AWS::EKS::AccessEntry": "remove"},
    ),
    "a name under another logical id": (
        {"Scripts": BUCKET},
        {"Lifecycle": BUCKET},
        {"platform/AWS::S3::Bucket": "fail"},
    ),
    "a gateway that moves with its address": (
        {"Nat": resource("AWS::EC2::NatGateway", SubnetId="a", AllocationId={"Ref": "Ip"})},
        {"Nat": resource("AWS::EC2::NatGateway", SubnetId="b", AllocationId={"Ref": "Ip"})},
        {"platform/AWS::EC2::NatGateway": "fail"},
    ),
    "a directory that is linked to another S3 location": (
        {"Link": link("s3://bucket/a")},
        {"Link": link("s3://bucket/b")},
        {"platform/AWS::FSx::DataRepositoryAssociation": "fail"},
    ),
    "an association, which is deleted first": (
        {"Of": resource("AWS::EC2::SubnetRouteTableAssociation", SubnetId="a", RouteTableId="b")},
        {"Of": resource("AWS::EC2::SubnetRouteTableAssociation", SubnetId="a", RouteTableId="c")},
        {"platform/AWS::EC2::SubnetRouteTableAssociation": "replace"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_outcomes(case: str) -> None:
    old, new, expected = CASES[case]
    templates = [{"platform": {"Resources": resources}} for resources in (old, new)]
    assert consequences(*templates) == expected


FILES = {"Files": resource("AWS::FSx::FileSystem", SubnetIds=[{"Fn::ImportValue": "subnet"}])}
IMPORTING = {"storage": {"Resources": FILES}}


def exporting(resources: Resources, *, name: str = "subnet") -> dict[str, Any]:
    output = {"Value": {"Ref": "Subnet"}, "Export": {"Name": name}}
    return {"platform": {"Resources": resources, "Outputs": {"Subnet": output}}}


def test_what_is_imported_from_a_replaced_resource_is_replaced() -> None:
    old = {**exporting({**VPC, "Subnet": subnet()}), **IMPORTING}
    new = {**exporting({**VPC, "Subnet": subnet(cidr="10.0.1.0/24")}), **IMPORTING}
    assert consequences(old, new) == {
        "platform/AWS::EC2::Subnet": "replace",
        "platform/export": "fail",
        "storage/AWS::FSx::FileSystem": "replace",
    }


def test_an_export_goes_only_with_its_last_import() -> None:
    old = exporting({**VPC, "Subnet": subnet()})
    new = exporting({**VPC, "Subnet": subnet()}, name="other")
    assert consequences(old, new) == {}
    # The storage stack is still deployed, whether or not the new app has it.
    assert consequences({**old, **IMPORTING}, new) == {"platform/export": "fail"}


def test_a_type_without_schema_is_told() -> None:
    queue = {"platform": {"Resources": {"Queue": resource("AWS::SQS::Queue")}}}
    with pytest.raises(LookupError, match="AWS::SQS::Queue: add a row to"):
        consequences(queue, queue)


@pytest.mark.parametrize(("name", "outcome"), [("Count", "update"), ("ClusterName", "replace")])
def test_custom_resources_have_no_schema_but_physical_ids(name: str, outcome: str) -> None:
    kind = "Custom::HyperPodCluster"
    old, new = (
        {"hyperpod": {"Resources": {"Cluster": resource(kind, **{name: value})}}} for value in "ab"
    )
    assert consequences(old, new) == {f"hyperpod/{kind}": outcome}


def fixed(cidr: str) -> dict[str, Any]:
    """Return a stack whose rule keeps the address block of a subnet, and one that imports it."""
    rule = {"Assert": {"Fn::Equals": [{"Ref": "Block"}, cidr]}, "AssertDescription": "is fixed"}
    templates = {**exporting({**VPC, "Subnet": subnet(cidr=cidr)}), **IMPORTING}
    templates["platform"] |= {
        "Parameters": {"Block": {"Type": "String", "Default": cidr}},
        "Rules": {"Fixed": {"Assertions": [rule]}},
    }
    return templates


def test_a_rule_refuses_before_anything_is_done() -> None:
    old, new = fixed("10.0.0.0/24"), fixed("10.0.1.0/24")
    assert consequences(old, new) == {"platform/rules": "refused"}
    assert consequences(new, new) == {}
    # What had no rule yet is not refused: the parameter begins with the new value.
    del old["platform"]["Rules"], old["platform"]["Parameters"]
    assert consequences(old, new)["platform/AWS::EC2::Subnet"] == "replace"

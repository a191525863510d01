"""What a change does to a stack, and what the last release promised."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from aws_reference.resource_schemas import schema_of
from hyperpod_cdk import load_config
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_rehearsal.releases import record, releases
from tests.changes.consequences import consequences
from tests.conftest import Assemble
from tests.support.configs import REPOSITORY

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


Template = Mapping[str, Any]
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^## \[(\d+\.\d+\.\d+)\]", re.MULTILINE)


def moves(old: Mapping[str, Template], new: Mapping[str, Template]) -> Iterator[tuple[str, str]]:
    """Yield the logical id, and what happened to it, of all that is not where it was."""
    for stack, template in old.items():
        for section in ("Resources", "Outputs", "Parameters"):
            today = new.get(stack, {}).get(section, {})
            for logical_id, was in template.get(section, {}).items():
                if logical_id not in today:
                    yield logical_id, f"is no longer among the {section} of {stack}"
                elif section == "Resources":
                    for change in _changes(was, today[logical_id]):
                        yield logical_id, f"{change} ({stack})"


def _changes(old: Template, new: Template) -> Iterator[str]:
    if old["Type"] != new["Type"]:
        yield f"is {new['Type']}, not {old['Type']}"
        return
    schema = schema_of(old["Type"])
    if schema is not None:
        names = [schema.given_name(each.get("Properties", {})) for each in (old, new)]
        if names[0] != names[1]:
            yield f"is named {json.dumps(names[1])}, not {json.dumps(names[0])}"


def test_nothing_of_the_last_release_moved_without_a_note(assemble: Assemble) -> None:
    release = releases()[-1]
    today = assemble(load_config(release.config)).templates()
    notes = CHANGELOG.partition(f"## [{release.version}]")[0]

    moved = list(moves(release.templates(), today))

    assert [f"{name} {what}" for name, what in moved if f"`{name}`" not in notes] == []


RELEASED_BUCKET = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "mine"}}
RESOURCES = {
    "a": {"Resources": {"Bucket": RELEASED_BUCKET}, "Outputs": {"Name": {"Value": "mine"}}}
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"Resources": {"Bucket": RELEASED_BUCKET}, "Outputs": {"Name": {}, "Arn": {}}}, []),
        (
            {"Resources": {"Other": RELEASED_BUCKET}, "Outputs": {"Name": {}}},
            ["Bucket is no longer among"],
        ),
        ({"Resources": {"Bucket": RELEASED_BUCKET}}, ["Name is no longer among the Outputs of a"]),
        (
            {
                "Resources": {"Bucket": {**RELEASED_BUCKET, "Properties": {}}},
                "Outputs": {"Name": {}},
            },
            ['Bucket is named null, not "mine" (a)'],
        ),
        (
            {"Resources": {"Bucket": {"Type": "AWS::S3::AccessPoint"}}, "Outputs": {"Name": {}}},
            ["Bucket is AWS::S3::AccessPoint, not AWS::S3::Bucket (a)"],
        ),
    ],
)
def test_moves(changed: Template, said: list[str]) -> None:
    found = [" ".join(move) for move in moves(RESOURCES, {"a": changed})]
    assert len(found) == len(said)
    assert all(line.startswith(start) for line, start in zip(found, said, strict=True))


def test_a_stack_that_goes_takes_everything_with_it() -> None:
    assert [name for name, _ in moves(RESOURCES, {})] == ["Bucket", "Name"]


def test_the_newest_release_is_in_the_changelog_and_not_newer_than_the_package() -> None:
    newest = releases()[-1].version
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))

    assert HEADING.findall(CHANGELOG)[0] == newest
    assert tuple(map(int, newest.split("."))) <= tuple(
        map(int, project["project"]["version"].split("."))
    )


def test_a_release_is_recorded_once() -> None:
    with pytest.raises(OpsError, match=r"pyproject\.toml: version .* is released already"):
        record(version=releases()[-1].version)


# Of what is at the top of a file system, what does not also begin a path in the cloud.
MACHINE_PATH = re.compile(
    r"(?<![\w.*}-])/(?:home|Users|root|tmp|var|private|work|workspaces?|builds?|runner|mnt|srv|usr)"
    r"/[\w.-]+|[A-Z]:\\\\"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"path": "/home/ann/hyperpod/cdk.out/asset.1"', True),
        ("at /srv/checkout/app.py:1", True),
        (r'"path": "C:\\Users\\ann"', True),
        ('"/aws/lambda/ml-platform"', False),
        ('"arn:aws:iam::aws:policy/service-role/X"', False),
        ("https://docs.aws.amazon.com/eks/latest/home/x", False),
    ],
)
def test_paths_of_a_machine_are_told_from_others(text: str, found: bool) -> None:
    assert (MACHINE_PATH.search(text) is not None) == found


def test_a_release_holds_no_path_of_the_machine_that_recorded_it() -> None:
    texts = releases()[-1].texts()

    assert texts
    for text in texts.values():
        assert MACHINE_PATH.findall(text) == []

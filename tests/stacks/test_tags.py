"""The configured tags are on every resource that takes tags, and on the stacks themselves."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aws_reference.resource_schemas import schema_of, schemas
from hyperpod_cdk import load_config
from hyperpod_cli.aws.assembly import text
from tests.support.assembly import Assembly, synthesized
from tests.support.configs import CONFIGS, EVERY_FIELD

TAGS = {"cost-center": "1234", "team": "research"}
HYPERPOD = "Custom::HyperPodCluster"
"""Its tags are in the request that the provisioner makes."""


def tags_of(value: object) -> dict[str, str]:
    """Return tags as a mapping: CloudFormation has both shapes."""
    match value:
        case list():
            return {tag["Key"]: tag["Value"] for tag in value}
        case Mapping():
            return dict(value)
        case _:
            return {}


def untagged(template: Mapping[str, Any]) -> list[str]:
    """Return type and logical ID of each resource that takes tags and lacks one."""
    found = []
    for logical_id, resource in template["Resources"].items():
        kind, properties = resource["Type"], resource.get("Properties", {})
        schema = schema_of(kind)
        if kind == HYPERPOD:
            tags = tags_of(json.loads(text(properties["Request"])).get("Tags"))
        elif schema is not None and schema.tag_property is not None:
            tags = tags_of(properties.get(schema.tag_property))
        else:
            continue
        if not tags.items() >= TAGS.items():
            found.append(f"{kind} {logical_id}")
    return found


def assembly_with_tags(path: Path, *, chart: Path, directory: Path) -> Assembly:
    config = load_config(path).model_copy(update={"tags": TAGS})
    return synthesized(config, chart=chart, directory=directory, validate=False)


@pytest.mark.slow(seconds=0.6)
@pytest.mark.parametrize("path", [*CONFIGS, EVERY_FIELD], ids=lambda path: path.stem)
def test_everything_that_takes_tags_has_them(path: Path, chart: Path, tmp_path: Path) -> None:
    assembly = assembly_with_tags(path, chart=chart, directory=tmp_path)
    templates = assembly.templates()

    assert [found for template in templates.values() for found in untagged(template)] == []
    for name in templates:
        assert assembly.artifact(name)["properties"]["tags"] == TAGS


def test_most_types_take_tags() -> None:
    without = {name for name, schema in schemas().items() if schema.tag_property is None}

    assert {"AWS::EC2::VPC", "AWS::EKS::Cluster", "AWS::FSx::FileSystem"} <= (
        schemas().keys() - without
    )
    # What only joins two resources, and policies.
    assert without <= {
        "AWS::EC2::Route",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::VPCCidrBlock",
        "AWS::EC2::VPCGatewayAttachment",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::KMS::Alias",
        "AWS::Lambda::LayerVersion",
        "AWS::S3::BucketPolicy",
    }


def test_a_resource_without_tags_is_found() -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"Tags": [{"Key": "team", "Value": "other"}]}}
    route = {"Type": "AWS::EC2::Route", "Properties": {}}

    assert untagged({"Resources": {"Vpc": vpc, "Route": route}}) == ["AWS::EC2::VPC Vpc"]

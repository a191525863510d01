"""The templates of all stacks: their size, tags, partitions, and what a growing cluster changes."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aws_reference.resource_schemas import schema_of, schemas
from hyperpod_cdk import Config, load_config
from hyperpod_cdk.node_groups.node_groups import OF_NODE_GROUPS
from hyperpod_cli.aws.assembly import text
from hyperpod_stacks.table import DEPLOYMENT_TAG
from tests.conftest import Assemble, Configure
from tests.support.assembly import Assembly, synthesized
from tests.support.configs import CONFIGS, EVERY_FIELD, default_document
from tests.support.template_view import TemplateView


@pytest.fixture(scope="module")
def assembly(
    configure: Configure, chart: Path, tmp_path_factory: pytest.TempPathFactory
) -> Assembly:
    config = configure({"cluster": {"resource": "native"}})
    directory = tmp_path_factory.mktemp("native")
    return synthesized(config, chart=chart, directory=directory)


def test_the_stack_has_the_same_outputs_but_the_shortage(assembly: Assembly) -> None:
    view = TemplateView(assembly.templates()["ml-hyperpod"])

    assert view.outputs.keys() == {"HyperPodClusterArn", "HyperPodClusterName"}
    assert view.ids("Custom::HyperPodCluster") == []
    releases = view.ids("Custom::HelmRelease")
    cluster = view.id("AWS::SageMaker::Cluster")
    assert {*releases} <= view.dependencies(cluster)
    # Before it, nothing of the stack is deleted.
    assert cluster in view.dependencies(view.id("Custom::DeletionCheck"))


ARNS = re.compile(r"\barn:aws[a-z-]*:[^\"]*")


@pytest.mark.parametrize(
    ("region", "zones", "partition"),
    [
        pytest.param("us-west-2", ["usw2-az1", "usw2-az2"], "aws", id="commercial"),
        pytest.param("cn-north-1", ["cnn1-az1", "cnn1-az2"], "aws-cn", id="china"),
        pytest.param("us-gov-west-1", ["usgw1-az1", "usgw1-az2"], "aws-us-gov", id="gov-cloud"),
        pytest.param(None, None, None, id="any-region"),
    ],
)
def test_arns_are_of_the_regions_partition(
    configure: Configure,
    assemble: Assemble,
    region: str | None,
    zones: list[str] | None,
    partition: str | None,
) -> None:
    subnet: dict[str, Any] = {"cidr": "10.1.0.0/16"}
    network = {"availability_zone_ids": zones, "hyperpod_subnets": [subnet]}
    texts = assemble(configure({"region": region, "network": network})).texts()

    written = {arn.split(":")[1] for text in texts.values() for arn in ARNS.findall(text)}

    # CDK writes some of them with a reference instead: fine in any partition.
    assert written == ({partition} if partition is not None else set())


GROUPS = 100
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
MOST_TEMPLATE_BYTES = 1_000_000
# https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html: input of an execution,
# which has the old and the new properties.
MOST_EVENT_BYTES = 262_144


def group(number: int) -> dict[str, Any]:
    return {
        "name": f"{'worker-group-':w<50}{number:03}",
        "instance_type": "ml.m5.2xlarge",
        "instance_count": 6758,
        # No VPC of the default configuration holds 675,800 nodes.
        "override_vpc": {"subnet_ids": [f"subnet-{number:017x}"]},
        "labels": {"team": "research", "example.com/tier": f"training-{number}"},
    }


def test_a_hundred_groups(configure: Configure, assemble: Assemble) -> None:
    config = configure({"cluster": {"instance_groups": [group(n) for n in range(GROUPS)]}})
    name = f"{config.name}-hyperpod"
    assembly = assemble(config)

    assert len(assembly.texts()[name].encode()) < MOST_TEMPLATE_BYTES
    properties = TemplateView(assembly.templates()[name]).one("Custom::HyperPodCluster")
    assert len(str(properties).encode()) * 2 < MOST_EVENT_BYTES


TAGS = {"cost-center": "1234", "team": "research", "project": "llm"}
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
        elif kind == "AWS::EC2::LaunchTemplate":
            data = properties["LaunchTemplateData"]
            [tags, *others] = [tags_of(each["Tags"]) for each in data["TagSpecifications"]]
            assert all(each == tags for each in others)
            if "InstanceMarketOptions" in data:
                # What is paid for as a whole is not ended for another tag.
                tags = TAGS
        elif kind in OF_NODE_GROUPS:
            # A change of tags is no update of theirs.
            assert not tags_of(properties.get("Tags")).keys() & TAGS.keys()
            continue
        elif schema is not None and schema.tag_property is not None:
            tags = tags_of(properties.get(schema.tag_property))
        else:
            continue
        if not tags.items() >= TAGS.items():
            found.append(f"{kind} {logical_id}")
    return found


def assembly_with_tags(path: Path, *, chart: Path, directory: Path) -> Assembly:
    config = load_config(path)
    # What is billed by a tag names one of the configuration's own.
    config = config.model_copy(update={"tags": {**config.tags, **TAGS}})
    return synthesized(config, chart=chart, directory=directory)


@pytest.mark.slow(seconds=0.6)
@pytest.mark.parametrize("path", [*CONFIGS, EVERY_FIELD], ids=lambda path: path.stem)
def test_everything_that_takes_tags_has_them(path: Path, chart: Path, tmp_path: Path) -> None:
    assembly = assembly_with_tags(path, chart=chart, directory=tmp_path)
    templates = assembly.templates()

    assert [found for template in templates.values() for found in untagged(template)] == []
    for name in templates:
        tags = assembly.artifact(name)["properties"].get("tags", {})
        is_handed_on = name.endswith("-node-groups")
        config = load_config(path)
        own = {**config.tags, **TAGS, DEPLOYMENT_TAG: config.name}
        assert tags == ({} if is_handed_on else own)


def test_most_types_take_tags() -> None:
    without = {name for name, schema in schemas().items() if schema.tag_property is None}

    assert {"AWS::EC2::VPC", "AWS::EKS::Cluster", "AWS::FSx::FileSystem"} <= (
        schemas().keys() - without
    )
    # What only joins two resources, and policies.
    assert without <= {
        "AWS::EC2::LaunchTemplate",  # has specifications of tags
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
        "AWS::Lambda::Permission",
        "AWS::S3::BucketPolicy",
        "AWS::SNS::Subscription",
        "AWS::SNS::TopicPolicy",
    }


def test_a_resource_without_tags_is_found() -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"Tags": [{"Key": "team", "Value": "other"}]}}
    route = {"Type": "AWS::EC2::Route", "Properties": {}}

    assert untagged({"Resources": {"Vpc": vpc, "Route": route}}) == ["AWS::EC2::VPC Vpc"]


CLUSTER = "Custom::HyperPodCluster"
THIRD_ZONE = "usw2-az3"
# Types whose resources are told of more, and what they are told.
EXTENDED = {
    "AWS::EC2::VPCEndpoint": {"RouteTableIds"},
    "AWS::IAM::Policy": {"PolicyDocument"},
    CLUSTER: {"Request"},
}


@pytest.fixture(scope="module")
def grown(configure: Configure) -> Config:
    document = default_document()
    network, groups = document["network"], document["cluster"]["instance_groups"]
    return configure(
        {
            "network": {
                "public_subnet_cidrs": [*network["public_subnet_cidrs"], "10.192.12.0/24"],
                "availability_zone_ids": [*network["availability_zone_ids"], THIRD_ZONE],
                "hyperpod_subnets": [
                    *network["hyperpod_subnets"],
                    {"cidr": "10.2.0.0/16", "availability_zone_id": THIRD_ZONE},
                ],
            },
            "cluster": {
                "instance_groups": [
                    *groups,
                    {**groups[1], "name": "far", "availability_zone_id": THIRD_ZONE},
                ]
            },
        }
    )


def resources(assemble: Assemble, config: Config) -> dict[str, dict[str, Any]]:
    return {
        f"{stack}/{name}": resource
        for stack, template in assemble(config).templates().items()
        for name, resource in template["Resources"].items()
    }


def test_a_subnet_and_a_group_in_a_third_zone_are_additions(
    assemble: Assemble, default_config: Config, grown: Config
) -> None:
    before, after = resources(assemble, default_config), resources(assemble, grown)

    assert before.keys() - after.keys() == set()
    for name, resource in before.items():
        old, new = resource.get("Properties", {}), after[name].get("Properties", {})
        changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        assert changed <= EXTENDED.get(resource["Type"], set()), name


def test_the_cluster_stays_in_its_subnet_and_the_group_names_its_own(
    assemble: Assemble, default_config: Config, grown: Config
) -> None:
    def request(config: Config) -> dict[str, Any]:
        view = TemplateView(assemble(config).templates()["ml-hyperpod"])
        result: dict[str, Any] = json.loads(view.text(view.one(CLUSTER)["Request"]))
        return result

    old, new = request(default_config), request(grown)
    (far,) = (group for group in new["InstanceGroups"] if group["InstanceGroupName"] == "far")

    assert len(old["VpcConfig"]["Subnets"]) == 1
    assert new["VpcConfig"] == old["VpcConfig"]
    assert [group for group in new["InstanceGroups"] if group is not far] == old["InstanceGroups"]
    assert len(far["OverrideVpcConfig"]["Subnets"]) == 1
    assert far["OverrideVpcConfig"]["Subnets"] != new["VpcConfig"]["Subnets"]


def test_the_control_plane_gets_no_subnet_in_the_third_zone(
    assemble: Assemble, grown: Config
) -> None:
    view = TemplateView(assemble(grown).templates()["ml-platform"])
    subnet_ids = view.one("AWS::EKS::Cluster")["ResourcesVpcConfig"]["SubnetIds"]

    zones = [view.resources[item["Ref"]]["Properties"]["AvailabilityZoneId"] for item in subnet_ids]
    assert zones == ["usw2-az1", "usw2-az2"]

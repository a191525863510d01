"""The section `workloads`, and its resources where the examples have none: a VPC, any region."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, WorkloadsConfig
from tests.conftest import Configure, Synthesize

REGISTRY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/mirror"
INDEX = "https://pypi.corp.example/simple"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("images_kept", 0),
        ("package_index", "http://pypi.corp.example/simple"),
        ("package_index", "https://me:secret@pypi.corp.example"),
        ("base_registry", f"https://{REGISTRY}"),
        ("base_registry", "public.ecr.aws/deep-learning-containers"),
    ],
)
def test_refused_values(key: str, value: object, snapshot: SnapshotAssertion) -> None:
    values: dict[str, Any] = {key: value}
    with pytest.raises(ConfigError) as refused:
        WorkloadsConfig(**values)

    (line,) = refused.value.lines
    assert line.startswith(f"WorkloadsConfig.{key}: ")
    assert line == snapshot


def test_a_closed_network_builds_in_the_vpc_and_lets_pushes_through(
    configure: Configure, synthesize: Synthesize
) -> None:
    templates = synthesize(
        configure(
            {
                "network": {
                    "closed": True,
                    "public_subnet_cidrs": [],
                    "hyperpod_subnets": [{"cidr": "10.1.0.0/24"}],
                    "allowed_domains": ["pypi.corp.example"],
                },
                "eks": {"endpoint_access": "private"},
                "workloads": {"package_index": INDEX, "base_registry": REGISTRY},
            }
        )
    )
    workloads = templates["ml-workloads"]
    [project] = workloads.find_resources("AWS::CodeBuild::Project").values()
    [policy] = workloads.find_resources("AWS::IAM::Policy").values()
    statements = {each["Sid"]: each for each in policy["Properties"]["PolicyDocument"]["Statement"]}

    assert project["Properties"]["VpcConfig"].keys() == {"SecurityGroupIds", "Subnets", "VpcId"}
    assert f"PIP_INDEX_URL={INDEX}" in project["Properties"]["Source"]["BuildSpec"]
    assert "repository/mirror/pytorch-training" in str(statements["PullBaseImages"]["Resource"])
    lent = statements["LendInterface"]["Condition"]
    assert lent["StringEquals"] == {"ec2:AuthorizedService": "codebuild.amazonaws.com"}
    assert "subnet/" in str(lent["ArnEquals"]["ec2:Subnet"])
    endpoints = templates["ml-platform"].find_resources("AWS::EC2::VPCEndpoint")
    [registry] = [
        each["Properties"] for each in endpoints.values() if "ecr.api" in str(each["Properties"])
    ]
    assert "ecr:PutImage" in str(registry["PolicyDocument"])


def test_a_template_for_any_region_looks_up_the_registry(
    configure: Configure, synthesize: Synthesize
) -> None:
    template = synthesize(configure({"workloads": {}, "region": None}))["ml-workloads"]

    [mapping] = template.find_mappings("*").values()
    assert mapping["af-south-1"] == {"account": "626614931356"}
    [project] = template.find_resources("AWS::CodeBuild::Project").values()
    assert "Fn::FindInMap" in str(project["Properties"]["Environment"])

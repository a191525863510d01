"""What may be chosen; what exists in one account is a parameter without a default."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cdk.synthesis.template_parameters import ParameterText
from hyperpod_cli.deliver.templates.package import parameterized, template_findings, write_package
from hyperpod_cli.deliver.templates.parameter import Parameter
from hyperpod_cli.deliver.templates.parameters import parameters
from tests.support.assembly import FAST, synthesized
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER, REPOSITORY, configured
from tests.support.network_cases import EXISTING as EXISTING_NETWORK
from tests.support.template_package import ResolvedTemplate

ARN = "arn:aws:iam::111122223333"
PLACE = "arn:aws:{}:us-west-2:111122223333"
GROUP = {"instance_count": 1, "threads_per_core": 2}
TYPES = ["ml.p5.48xlarge", "ml.p5en.48xlarge"]
EXISTING: dict[str, Any] = {
    "eks": {
        "admins": [f"{ARN}:role/Admin", f"{ARN}:user/Ann"],
        "secrets_kms_key_arn": f"{PLACE.format('kms')}:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    },
    "lifecycle_scripts": {"writers": [f"{ARN}:role/Scripts"]},
    "cluster": {
        "role_arn": f"{ARN}:role/Scaling",
        "auto_scaling": "Karpenter",
        "instance_groups": [
            {
                **GROUP,
                "name": "on-plan",
                "instance_type": TYPES[0],
                "training_plan_arn": f"{PLACE.format('sagemaker')}:training-plan/p5",
            },
            {
                **GROUP,
                "name": "elsewhere",
                "instance_types": TYPES,
                "execution_role_arn": f"{ARN}:role/Nodes",
                "override_vpc": {
                    "subnet_ids": ["subnet-0123456789abcdef0"],
                    "security_group_ids": ["sg-0123456789abcdef0"],
                },
            },
        ],
    },
}
GIVEN = {
    "AdminArn1": f"{ARN}:role/Admin",
    "AdminArn2": f"{ARN}:user/Ann",
    "SecretsKmsKeyArn": EXISTING["eks"]["secrets_kms_key_arn"],
    "ScriptWriterArn1": f"{ARN}:role/Scripts",
    "ClusterRoleArn": f"{ARN}:role/Scaling",
    "OnPlanTrainingPlanArn": f"{PLACE.format('sagemaker')}:training-plan/p5",
    "ElsewhereExecutionRoleArn": f"{ARN}:role/Nodes",
    "ElsewhereSubnetId1": "subnet-0123456789abcdef0",
    "ElsewhereSecurityGroupId1": "sg-0123456789abcdef0",
}


def written(config: Config, *, chart: Path, folder: Path) -> dict[str, Any]:
    context = json.loads((REPOSITORY / "cdk.json").read_text("utf-8"))["context"]
    return write_package(
        config, chart=read_hyperpod_chart(chart), target=folder, context={**context, **FAST}
    )


@pytest.mark.slow(seconds=2)
def test_it_must_be_given_and_is_then_what_the_cdk_deploys(chart: Path, tmp_path: Path) -> None:
    config = configured(EXISTING)
    templates = written(config, chart=chart, folder=tmp_path / "package")
    assembly = synthesized(config, chart=chart, directory=tmp_path / "cdk")

    required = {
        name: body
        for template in templates.values()
        for name, body in template["Parameters"].items()
        if "Default" not in body and name != "AssetsBucket"
    }
    assert required.keys() == GIVEN.keys()
    for name, body in required.items():
        assert re.fullmatch(body.get("AllowedPattern", ".*"), GIVEN[name])
    assert "111122223333" not in json.dumps(templates)
    for name, template in templates.items():
        kinds = ("Custom::HyperPodCluster", "AWS::EKS::AccessEntry", "AWS::EKS::Cluster")
        expected = assembly.templates()[f"ml-{name}"]
        values = {**GIVEN, "AvailabilityZoneId1": "usw2-az1", "AvailabilityZoneId2": "usw2-az2"}
        assert of_kinds(template, values, *kinds) == of_kinds(expected, {}, *kinds)
    types = {"ElsewhereInstanceType1": TYPES[1], "ElsewhereInstanceType2": TYPES[1]}
    (refusal,) = ResolvedTemplate(templates["hyperpod"], types).refusals()
    assert refusal.endswith("must be different types")


def of_kinds(template: Any, values: dict[str, str], *kinds: str) -> list[Any]:  # noqa: ANN401 - JSON
    """Return the properties of the resources of some types."""
    found = ResolvedTemplate(template, values).section("Resources").values()
    properties = [body["Properties"] for body in found if body["Type"] in kinds]
    return sorted(properties, key=json.dumps)


@functools.cache
def chosen(config: str) -> list[Parameter]:
    return parameters(load_config(CONFIG_FOLDER / f"{config}.yaml"))


@pytest.mark.parametrize(
    ("config", "parameter", "allowed", "refused"),
    [
        pytest.param(
            "default", "WorkerGroup1InstanceType", "ml.trn1.32xlarge", "ml.m5.2xlarge", id="checks"
        ),
        pytest.param(
            "default", "WorkerGroup2InstanceType", "ml.c5.4xlarge", "ml.t3.small", id="no such type"
        ),
        pytest.param(
            "trainium", "SystemInstanceType", "ml.c5.4xlarge", "ml.g5.2xlarge", id="components"
        ),
        pytest.param(
            "p5-training", "P5InstanceType", "ml.p4d.24xlarge", "ml.g5.2xlarge", id="plan"
        ),
        pytest.param("default", "StorageCapacityGiB", 2400, 3600, id="size"),
    ],
)
def test_the_rules_of_the_configuration_say_what_may_be_chosen(
    config: str, parameter: str, allowed: object, refused: object
) -> None:
    (found,) = (each for each in chosen(config) if each.name == parameter)

    assert allowed in found.definition["AllowedValues"]
    assert refused not in found.definition["AllowedValues"]


def test_no_more_instances_can_be_chosen_than_the_subnet_has_addresses_for() -> None:
    (found,) = (each for each in chosen("p5-training") if each.name == "P5InstanceCount")

    assert 65_531 // 81 - 2 <= found.definition["MaxValue"] < 65_531 // 81
    assert found.definition["MinValue"] == 0


def test_names_that_differ_in_nothing_but_hyphens_have_a_number() -> None:
    groups = [
        {"name": name, "instance_type": "ml.m5.2xlarge", "instance_count": 1}
        for name in ("a-b", "AB", "c")
    ]
    found = {each.name for each in parameters(configured({"cluster": {"instance_groups": groups}}))}

    assert {"AB1InstanceCount", "AB2InstanceCount", "CInstanceCount"} <= found


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "a-name-of-14ch"},
        {"name": "a-name-of-15chr"},
        {"helm": {"components": {"gpu_operator": True}}},
        {"network": EXISTING_NETWORK | {"availability_zone_ids": None}},
        {
            "network": {
                "availability_zone_ids": ["us-west-2a", "us-west-2b"],
                "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}],
            }
        },
        {
            "network": {
                "nat_gateways": "single",
                "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az4"}],
            }
        },
    ],
)
def test_what_templates_cannot_hold_is_one_line(
    changes: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert [str(finding) for finding in template_findings(configured(changes))] == snapshot


def test_three_zones_must_be_given_by_id() -> None:
    config = configured(
        {
            "network": {
                "public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24", "10.192.12.0/24"],
                "availability_zone_ids": ["usw2-az1", "usw2-az2", "usw2-az3"],
                "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az3"}],
            }
        }
    )
    found = parameters(config)
    zones = [each for each in found if each.group == "Network"]

    assert [each.name for each in zones] == [f"AvailabilityZoneId{n}" for n in (1, 2, 3)]
    assert all("Default" not in each.definition for each in zones)
    made = parameterized(config, found)
    assert made.network.hyperpod_zone_ids == ("usw2-az3",)
    assert isinstance(made.network.hyperpod_zone_ids[0], ParameterText)


@pytest.mark.parametrize(
    ("parameter", "allowed", "refused"),
    [
        (
            "AssetsBucket",
            ["abc", "my-assets.example", f"a{'b' * 61}c"],
            ["", "ab", "Assets", "-assets", "assets-", "my_assets", "s3://assets", "a" * 64],
        ),
        (
            "AssetsPrefix",
            ["", "hyperpod-cdk/", "a/b_c/1.0/"],
            ["assets", "/assets/", "a//b/", "a b/"],
        ),
    ],
)
def test_where_the_assets_are_has_the_form_of_a_bucket_and_a_prefix(
    parameter: str, allowed: list[str], refused: list[str]
) -> None:
    (found,) = [each for each in chosen("default") if each.name == parameter]
    pattern = found.definition["AllowedPattern"]
    assert [value for value in allowed if not re.fullmatch(pattern, value)] == []
    assert [value for value in refused if re.fullmatch(pattern, value)] == []


def test_the_command_names_the_place_in_the_file() -> None:
    file = CONFIG_FOLDER / "examples" / "eks-vpc-odcr-p4d.yaml"

    said = ran("templates", file)

    assert (said.code, said.out) == (2, "")
    assert re.match(rf"{file}:\d+: network\.vpc_id: ", said.err)

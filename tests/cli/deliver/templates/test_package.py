"""The folder that `templates` writes: the same each time, and the same as the CDK deploys."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, cast
from zipfile import ZipFile

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk.aws_ecr_assets import DockerImageAsset

from hyperpod_cdk import Config
from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.arns import BUCKET_NAME
from hyperpod_cli.deliver.templates.package import AssetsInBucket
from hyperpod_stacks.table import stack_names
from tests.conftest import Configure, Raises
from tests.support.assembly import synthesized
from tests.support.linter import findings
from tests.support.template_package import ResolvedTemplate, write_default_package

Templates = dict[str, dict[str, Any]]

ACCOUNT, REGION = "111122223333", "us-west-2"
# As the CDK's own synthesizer names the bucket of its assets.
PLACE = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::URLSuffix": "amazonaws.com",
    "AssetsBucket": f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}",
    "AssetsPrefix": "",
}
# The CDK's digests of paths that begin with the name of the stack, and that name in logical ids.
DIGESTS = (
    r"(Provisioner)(-?)[0-9A-F]{8}",
    r"(Group(?:from|to))\w*Group[0-9A-F]{8}(ALLTRAFFIC|988|10181023)[0-9A-F]{8}",
)
ZONES = {"AvailabilityZoneId1": "usw2-az1", "AvailabilityZoneId2": "usw2-az2"}
CHANGES: dict[str, Any] = {
    "name": "research",
    "network": {
        "availability_zone_ids": ["usw2-az3", "usw2-az1"],
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az1"}],
    },
    # The CSI driver has no pinned version for it.
    "eks": {"version": "1.35"},
    "storage": {"capacity_gib": 4800, "throughput_mbps_per_tib": 500},
    "cluster": {
        "name": "research-cluster",
        "instance_groups": [
            {
                "name": "worker-group-1",
                "instance_type": "ml.p5.48xlarge",
                "instance_count": 7,
                "volume_size_gib": 900,
                "threads_per_core": 2,
                "deep_health_checks": ["InstanceStress", "InstanceConnectivity"],
            },
            {
                "name": "worker-group-2",
                "instance_type": "ml.c5.4xlarge",
                "instance_count": 0,
                "volume_size_gib": 50,
                "threads_per_core": 1,
            },
        ],
    },
}
VALUES: dict[str, Any] = {
    "DeploymentName": "research",
    "AvailabilityZoneId1": "usw2-az3",
    "AvailabilityZoneId2": "usw2-az1",
    "KubernetesVersion": "1.35",
    "StorageCapacityGiB": 4800,
    "StorageThroughput": 500,
    "WorkerGroup1InstanceType": "ml.p5.48xlarge",
    "WorkerGroup1InstanceCount": 7,
    "WorkerGroup1VolumeSizeGiB": 900,
    "WorkerGroup2InstanceType": "ml.c5.4xlarge",
    "WorkerGroup2InstanceCount": 0,
    "WorkerGroup2VolumeSizeGiB": 50,
}
"""The parameters that stand for `CHANGES`."""


def resources(templates: Templates, values: dict[str, Any]) -> Templates:
    """Return resources and outputs of each stack with values."""
    result = {}
    for name, template in templates.items():
        resolved = ResolvedTemplate(template, values)
        found = {
            "Resources": {
                logical_id: {key: value for key, value in body.items() if key != "Metadata"}
                for logical_id, body in resolved.section("Resources").items()
            },
            "Outputs": resolved.section("Outputs"),
        }
        text = json.dumps(found)
        for pattern in DIGESTS:
            text = re.sub(pattern, r"\1\2", text)
        result[name] = json.loads(text)
    return result


def deployed_by_the_cdk(config: Config, *, chart: Path, directory: Path) -> Templates:
    assembly = synthesized(config, chart=chart, directory=directory)
    templates = {name.rpartition("-")[2]: body for name, body in assembly.templates().items()}
    return resources(templates, PLACE)


@pytest.mark.slow(seconds=2)
def test_with_their_defaults_they_deploy_what_the_cdk_does(
    templates: Templates, default_config: Config, chart: Path, tmp_path: Path
) -> None:
    expected = deployed_by_the_cdk(default_config, chart=chart, directory=tmp_path)

    assert templates.keys() == stack_names(default_config).keys()
    assert resources(templates, {**PLACE, **ZONES}) == expected


@pytest.mark.slow(seconds=2)
def test_with_changed_parameters_they_deploy_what_the_cdk_does_of_a_changed_configuration(
    templates: Templates, configure: Configure, chart: Path, tmp_path: Path
) -> None:
    expected = deployed_by_the_cdk(configure(CHANGES), chart=chart, directory=tmp_path)

    assert resources(templates, {**PLACE, **VALUES}) == expected
    own = {
        name
        for body in templates.values()
        for name in ResolvedTemplate(body, {}).section("Metadata")[
            "AWS::CloudFormation::Interface"
        ]["ParameterLabels"]
    }
    assert own == {*VALUES, "AssetsBucket", "AssetsPrefix"}


@pytest.mark.slow(seconds=2)
def test_two_builds_write_the_same_bytes(package: Path, tmp_path: Path) -> None:
    write_default_package(tmp_path / "again")

    assert digests(tmp_path / "again") == digests(package)
    for archive in (package / "assets").glob("*.zip"):
        assert ZipFile(archive).namelist()


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_manifest_lists_every_file_with_its_digest(package: Path) -> None:
    manifest = json.loads((package / "manifest.json").read_text("utf-8"))
    found = digests(package)
    del found["manifest.json"]

    assert manifest["sha256"] == found
    assert len([name for name in found if name.startswith("assets/")]) >= 5
    assert manifest["protected"] == "storage"
    assert manifest["fixed"].split() == list(ZONES)


def test_json_and_yaml_are_the_same_template(package: Path, templates: Templates) -> None:
    for name, template in templates.items():
        text = (package / "templates" / f"{name}.yaml").read_text("utf-8")
        assert yaml.safe_load(text) == template


def test_they_are_within_the_limits_of_cloudformation(package: Path, templates: Templates) -> None:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
    for path in (package / "templates").iterdir():
        assert path.stat().st_size < 1_000_000
    for template in templates.values():
        assert len(template["Resources"]) < 500
        assert len(template["Parameters"]) < 200
        for parameter in template["Parameters"].values():
            assert len(parameter["Description"]) <= 4000


def test_no_account_and_no_region_is_baked_in(package: Path, templates: Templates) -> None:
    for template in templates.values():
        text = json.dumps({key: body for key, body in template.items() if key != "Rules"})
        assert [
            region for region in regions() if f'{region}"' in text or f".{region}." in text
        ] == []
        assert re.findall(r"\b\d{12}\b", text) == []
        assert "cdk-hnb659fds" not in text
        assert "deploymentnam" not in text
    assert "BootstrapVersion" not in (package / "templates" / "platform.yaml").read_text("utf-8")


@pytest.mark.slow(seconds=3)
def test_cfn_lint_has_no_finding(package: Path) -> None:
    for path in (package / "templates").glob("*.json"):
        assert findings(path.read_text("utf-8"), region="eu-west-1") == ()


def test_every_parameter_is_on_the_page_and_in_a_group(package: Path, templates: Templates) -> None:
    page = (package / "parameters.md").read_text("utf-8")
    assert f"`{BUCKET_NAME}`" in page
    for template in templates.values():
        interface = template["Metadata"]["AWS::CloudFormation::Interface"]
        shown = [name for group in interface["ParameterGroups"] for name in group["Parameters"]]
        assert sorted(shown) == sorted(template["Parameters"])
        assert [name for name in interface["ParameterLabels"] if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize(
    ("region", "zones", "refusal"),
    [
        pytest.param("us-west-2", ("", ""), None, id="by name"),
        pytest.param("us-west-2", ("usw2-az4", "usw2-az1"), None, id="by id"),
        pytest.param("us-iso-east-1", ("usie1-az1", "usie1-az2"), None, id="unknown region"),
        pytest.param("us-west-2", ("usw2-az1", ""), "give all of", id="one alone"),
        pytest.param("us-west-2", ("usw2-az1", "usw2-az1"), "must be different", id="equal"),
        pytest.param("us-west-2", ("use1-az1", "usw2-az1"), "(empty), usw2-az1", id="elsewhere"),
        pytest.param("us-west-2", ("usw2-az5", "usw2-az1"), "usw2-az4", id="no such zone"),
        pytest.param("us-east-1", ("use1-az3", "use1-az1"), "with EKS", id="without EKS"),
        pytest.param("us-east-1", ("", ""), "with EKS", id="any, where one is without EKS"),
    ],
)
def test_zones_that_do_not_fit_are_refused(
    templates: Templates, region: str, zones: tuple[str, str], refusal: str | None
) -> None:
    values = {"AWS::Region": region, **dict(zip(ZONES, zones, strict=True))}
    found = ResolvedTemplate(templates["platform"], values).refusals()

    assert [refusal in text for text in found if refusal] == [True] * len(found)
    assert bool(found) == bool(refusal)


def test_a_container_image_is_refused(tmp_path: Path, raises: Raises) -> None:
    image = tmp_path / "image"
    image.mkdir()
    (image / "Dockerfile").write_text("FROM scratch\n")
    app = cdk.App(
        outdir=str(tmp_path / "out"),
        default_stack_synthesizer=cast("cdk.IReusableStackSynthesizer", AssetsInBucket()),
    )
    with raises(RuntimeError):
        DockerImageAsset(cdk.Stack(app, "Stack"), "Image", directory=str(image))

"""What the configuration of the cluster makes of the stacks."""

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.support.configs import TWO_SUBNETS
from tests.support.template_view import TemplateView

CLUSTER, ROLE = "Custom::HyperPodCluster", "AWS::IAM::Role"
OWN_ROLE = "arn:aws:iam::111122223333:role/Scaling"


@pytest.fixture
def view(assemble: Assemble, config: Config) -> TemplateView:
    return TemplateView(assemble(config).templates()["ml-hyperpod"])


@pytest.fixture
def config(configure: Configure, changes: dict[str, Any]) -> Config:
    return configure(changes)


def request(view: TemplateView) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(view.text(view.one(CLUSTER)["Request"]))
    return result


def in_zone(zone: str) -> dict[str, Any]:
    group = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
    groups = [{**group, "availability_zone_id": zone}]
    return {"network": TWO_SUBNETS, "cluster": {"instance_groups": groups}}


@pytest.mark.parametrize(
    "changes", [{"cluster": {"auto_scaling": "Karpenter", "role_arn": OWN_ROLE}}]
)
def test_a_role_of_ones_own_is_used_instead(view: TemplateView) -> None:
    assert request(view)["ClusterRole"] == OWN_ROLE
    assert view.statement("PassClusterRole")["Resource"] == OWN_ROLE
    assert view.ids(ROLE) == []


@pytest.mark.parametrize("changes", [in_zone("usw2-az1")])
def test_the_zone_of_a_group_is_that_of_its_subnet(
    assemble: Assemble, config: Config, view: TemplateView
) -> None:
    platform = TemplateView(assemble(config).templates()["ml-platform"])
    (group,) = request(view)["InstanceGroups"]
    (subnet,) = group["OverrideVpcConfig"]["Subnets"]
    exported = platform.exported(f"ml-platform:{subnet.removeprefix('<output ').removesuffix('>')}")

    assert exported == {"Ref": platform.id("AWS::EC2::Subnet", CidrBlock="10.2.0.0/16")}
    assert (
        group["OverrideVpcConfig"]["SecurityGroupIds"]
        == request(view)["VpcConfig"]["SecurityGroupIds"]
    )


@pytest.mark.parametrize("changes", [in_zone("usw2-az2")])
def test_a_group_may_name_the_zone_of_the_cluster_at_any_time(view: TemplateView) -> None:
    (group,) = request(view)["InstanceGroups"]

    # An override could not be added to a group that exists.
    assert "OverrideVpcConfig" not in group


def test_every_field_arrives_in_the_template(assemble: Assemble, repository: Path) -> None:
    config = load_config(repository / "tests" / "support" / "every_field.yaml")
    view = TemplateView(assemble(config).templates()["ml-hyperpod"])
    gpu, spot, system = request(view)["InstanceGroups"]

    assert gpu["AutoPatchConfig"]["PatchSchedule"] == {"NextPatchDate": "2027-01-31T03:00:00Z"}
    assert gpu["LifeCycleConfig"] == {
        "SourceS3Uri": "s3://sagemaker-scripts/gpu/",
        "OnCreate": "setup.sh",
    }
    assert spot["CapacityRequirements"] == {"Spot": {}}
    assert spot["ExecutionRole"] == "arn:aws:iam::111122223333:role/SpotNodes"
    prefix = "/lifecycle-scripts/folders/own-scripts"
    assert system["LifeCycleConfig"]["SourceS3Uri"].endswith(prefix)
    key = config.encryption.kms_key_arn
    assert system["InstanceStorageConfigs"] == [
        {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": key}}
    ]
    assert [group["InstanceGroupName"] for group in request(view)["RestrictedInstanceGroups"]] == [
        "nova",
        "nova-shared",
    ]

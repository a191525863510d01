"""What a running deployment becomes when nodes in a further zone are added to it.

The VPC configuration of a HyperPod cluster and the zones of an EKS cluster cannot be changed once
they exist: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html and
https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""

import json
from typing import Any

import pytest

from hyperpod_cdk import Config
from tests.conftest import Assemble, Configure
from tests.support.configs import default_document
from tests.support.template_view import TemplateView

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

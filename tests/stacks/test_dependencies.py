"""What waits for what: nothing slow stands before EKS, Helm or HyperPod."""

from pathlib import Path

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.support.configs import CONFIGS
from tests.support.template_view import TemplateView

ADDON, CLUSTER = "AWS::EKS::Addon", "Custom::HyperPodCluster"
# Minutes each; none is needed for an EKS control plane to start.
SLOW = {"AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::FSx::FileSystem", ADDON}


@pytest.fixture
def platform(default_config: Config, assemble: Assemble) -> TemplateView:
    return TemplateView(assemble(default_config).templates()["ml-platform"])


@pytest.fixture
def hyperpod(default_config: Config, assemble: Assemble) -> TemplateView:
    return TemplateView(assemble(default_config).templates()["ml-hyperpod"])


def test_the_control_plane_waits_for_nothing_slow(platform: TemplateView) -> None:
    needed = platform.dependency_types(platform.id("AWS::EKS::Cluster"))

    assert needed & SLOW == set()
    assert not [kind for kind in needed if kind.startswith("Custom::Helm")]
    assert "AWS::EC2::Subnet" in needed


@pytest.mark.parametrize("addon", ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"])
def test_daemon_set_addons_wait_for_the_control_plane_only(
    platform: TemplateView, addon: str
) -> None:
    name = platform.id(ADDON, AddonName=addon)
    cluster = platform.id("AWS::EKS::Cluster")

    assert platform.dependencies(name) == {cluster, *platform.dependencies(cluster)}


def test_the_scripts_wait_for_no_network(platform: TemplateView) -> None:
    needed = platform.dependency_types(platform.id("Custom::LifecycleScripts"))

    assert needed & {*SLOW, "AWS::EKS::Cluster", "AWS::EC2::VPC"} == set()


def test_the_scripts_are_in_place_before_the_cluster(
    platform: TemplateView, hyperpod: TemplateView
) -> None:
    scripts = {"Fn::GetAtt": [platform.id("Custom::LifecycleScripts"), "S3Uri"]}
    published = [name for name, item in platform.outputs.items() if item["Value"] == scripts]

    assert f"<output {published[0]}>" in hyperpod.text(hyperpod.one(CLUSTER)["Request"])


def test_the_cluster_follows_the_releases_and_no_addon(hyperpod: TemplateView) -> None:
    cluster, releases = hyperpod.id(CLUSTER), hyperpod.ids("Custom::HelmRelease")

    assert len(releases) == 2
    assert set(releases) <= hyperpod.dependencies(cluster)
    assert hyperpod.dependency_types(cluster) == {"Custom::HelmRelease", "AWS::IAM::Policy"}
    # Neither waits for the other.
    assert {kind for name in releases for kind in hyperpod.dependency_types(name)} == {
        "AWS::IAM::Policy"
    }


def test_addons_that_need_nodes_wait_for_nothing_of_their_stack(
    default_config: Config, assemble: Assemble
) -> None:
    addons = TemplateView(assemble(default_config).templates()["ml-addons"])

    assert len(addons.ids(ADDON)) == 2
    assert [name for name in addons.ids(ADDON) if addons.dependencies(name)] == []


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_deletion_of_the_stack_begins_with_the_check(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    view = TemplateView(assemble(config).templates()[f"{config.name}-hyperpod"])
    check = view.id("Custom::DeletionCheck")

    # CloudFormation deletes a resource once all that depend on it are gone.
    assert view.dependencies(check) == view.resources.keys() - {check, "CDKMetadata"}


def test_a_provisioner_in_the_vpc_waits_for_its_way_out(
    configure: Configure, assemble: Assemble
) -> None:
    config = configure({"eks": {"endpoint_access": "private"}})
    platform = TemplateView(assemble(config).templates()["ml-platform"])

    needed = platform.dependency_types(platform.id("Custom::LifecycleScripts"))

    assert {"AWS::EC2::NatGateway", "AWS::EC2::Route"} <= needed
    assert platform.dependency_types(platform.id("AWS::EKS::Cluster")) & SLOW == set()

"""What waits for what: nothing stands before EKS, Helm or HyperPod that need not."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.assembly import CDK_METADATA, Address, stacks_in
from tests.conftest import Assemble, Configure
from tests.support.configs import orchestrated_by
from tests.support.template_view import TemplateView

ADDON, CLUSTER = "AWS::EKS::Addon", "Custom::HyperPodCluster"
# Minutes each; none is needed for an EKS control plane to start.
SLOW = {"AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::FSx::FileSystem", ADDON}

# What a template may let stand before each: whoever adds to it says why here.
BEFORE_EKS = {
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet",
    "AWS::EC2::VPC",
    # EKS may take an hour to see a block that is added to the VPC later.
    "AWS::EC2::VPCCidrBlock",
    "AWS::IAM::Role",
    # The key of its secrets.
    "AWS::KMS::Key",
    # EKS would make it itself, and keep its logs for ever.
    "AWS::Logs::LogGroup",
}
PROVISIONER = {
    # Its journal.
    "AWS::DynamoDB::Table",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Logs::LogGroup",
    "AWS::StepFunctions::StateMachine",
}
# A provisioner in the VPC reaches EKS and its API by these.
WAY_OUT = {
    "AWS::EC2::EIP",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::NatGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::VPCGatewayAttachment",
}
BEFORE_HELM = BEFORE_EKS | PROVISIONER | {"AWS::EKS::Cluster"}
# The scripts that the nodes run, and the releases without which they would not become ready.
BEFORE_HYPERPOD = BEFORE_HELM | {
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "Custom::HelmRelease",
    "Custom::LifecycleScripts",
}
HYPERPOD = {CLUSTER, "AWS::SageMaker::Cluster"}
NODE_GROUP = "AWS::EKS::Nodegroup"
BEFORE_NODE_GROUP = BEFORE_HELM | {
    "AWS::EC2::LaunchTemplate",
    "AWS::EC2::PlacementGroup",
    # The size that the autoscaler has given it.
    "Custom::NodeGroupSize",
}
ON_EKS, WITH_SLURM = orchestrated_by("eks"), orchestrated_by("slurm")


class Graph:
    """What the resources of an assembly refer to, and which stacks each stack follows."""

    def __init__(self, assembly: Path) -> None:
        stacks = stacks_in(assembly)
        self.stacks = {stack.name: {*stack.needs} for stack in stacks}
        self._resources = {
            address: resource
            for stack in stacks
            for address, resource in stack.resources.items()
            if resource.type != CDK_METADATA
        }
        self.types = {address: each.type for address, each in self._resources.items()}

    def of_type(self, resource_type: str) -> list[Address]:
        """Return the resources of a type."""
        return [address for address, kind in self.types.items() if kind == resource_type]

    def before(self, address: Address) -> AbstractSet[Address]:
        """Return all that a resource needs, directly or not."""
        found: set[Address] = set()
        pending = [*self._resources[address].needs]
        while pending:
            each = pending.pop()
            if each not in found:
                found.add(each)
                pending += self._resources[each].needs
        return found


def first_nodes(config: Config) -> str:
    """Return the stack of the first nodes, with the Helm releases."""
    return f"{config.name}-{'hyperpod' if config.cluster.exists else 'node-groups'}"


@pytest.fixture
def hyperpod(default_config: Config, assemble: Assemble) -> TemplateView:
    return TemplateView(assemble(default_config).templates()["ml-hyperpod"])


@pytest.fixture(params=ON_EKS, ids=lambda path: path.stem)
def config(request: pytest.FixtureRequest) -> Config:
    return load_config(request.param)


@pytest.fixture
def graph(config: Config, assemble: Assemble) -> Graph:
    return Graph(assemble(config).directory)


def test_only_what_must_stands_before_each(config: Config, graph: Graph) -> None:
    way_out = set() if config.eks.is_reachable_from_anywhere else WAY_OUT
    clusters = [each for kind in HYPERPOD for each in graph.of_type(kind)]
    node_groups = graph.of_type(NODE_GROUP)
    stack = first_nodes(config)
    releases = [
        each
        for each in graph.of_type("Custom::HelmRelease")
        # Node pools are made after the cluster, which brings their definitions.
        if each.stack == stack and not graph.before(each) & {*clusters}
    ]

    def before(addresses: Iterable[Address]) -> AbstractSet[str]:
        found = {each for one in addresses for each in graph.before(one)}
        return {graph.types[each] for each in found}

    assert len(releases) >= 1
    assert before(graph.of_type("AWS::EKS::Cluster")) <= BEFORE_EKS
    # Pods get the Cluster Autoscaler's rights as they start.
    rights = {"AWS::EKS::PodIdentityAssociation"} if config.operators.cluster_autoscaler else set()
    assert before(releases) <= BEFORE_HELM | way_out | rights
    assert len(clusters) == config.cluster.exists
    assert before(clusters) <= BEFORE_HYPERPOD | way_out
    assert len(node_groups) == len(config.node_groups)
    assert before(node_groups) <= BEFORE_NODE_GROUP | way_out
    # A stack waits for all of the stacks that it needs.
    assert graph.stacks[stack] == {f"{config.name}-platform"}


def test_nodes_wait_for_nothing_that_observes_them(
    configure: Configure, assemble: Assemble
) -> None:
    everything: dict[str, Any] = {
        "cloudwatch": {"accelerators": False},
        "prometheus": {},
        "grafana": {"kind": "managed"},
        "notifications": {"emails": ["ml-platform@example.com"]},
        "budget": {"monthly_usd": 100000},
    }

    def needed(observability: dict[str, Any]) -> AbstractSet[Address]:
        graph = Graph(assemble(configure({"observability": observability})).directory)
        (cluster,) = graph.of_type(CLUSTER)
        return graph.before(cluster) | {Address(each, "") for each in graph.stacks[cluster.stack]}

    assert needed(everything) == needed({})


@pytest.mark.parametrize("path", WITH_SLURM, ids=lambda path: path.stem)
def test_slurm_waits_for_what_its_nodes_mount_and_for_no_control_plane(
    path: Path, assemble: Assemble
) -> None:
    config = load_config(path)
    graph = Graph(assemble(config).directory)
    (cluster,) = graph.of_type(CLUSTER)

    assert graph.stacks[cluster.stack] == {f"{config.name}-platform", f"{config.name}-storage"}
    assert graph.stacks[f"{config.name}-storage"] == {f"{config.name}-platform"}
    assert {kind for kind in graph.types.values() if "EKS" in kind or "Helm" in kind} == set()


def test_the_cluster_follows_the_releases_and_no_addon(hyperpod: TemplateView) -> None:
    cluster, releases = hyperpod.id(CLUSTER), hyperpod.ids("Custom::HelmRelease")

    assert len(releases) == 2
    assert set(releases) <= hyperpod.dependencies(cluster)
    assert hyperpod.dependency_types(cluster) == {"Custom::HelmRelease", "AWS::IAM::Policy"}
    # Neither waits for the other.
    assert {kind for name in releases for kind in hyperpod.dependency_types(name)} == {
        "AWS::IAM::Policy"
    }


@pytest.mark.parametrize("path", ON_EKS, ids=lambda path: path.stem)
def test_the_deletion_of_the_stack_begins_with_the_check(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    view = TemplateView(assemble(config).templates()[first_nodes(config)])
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

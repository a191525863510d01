"""The example apps, deployed one after another to a local AWS by the CDK CLI."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
import pytest

from emulator.kubernetes import InProcessControlPlane
from examples.helm_release.app import MyRelease
from examples.one_stack.app import MyCluster
from examples.own_eks_cluster import app as own_eks_cluster
from rehearsal.cdk_cli import CdkCli
from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from tests.support.assembly import Assembly, new_app
from tests.support.linter import findings
from tests.support.stages import cdk_cli

ACCOUNT, REGION = "111122223333", "us-west-2"
PRIORITY = ("scheduling.k8s.io/v1", "PriorityClass")


def _one_stack(app: cdk.App, chart: Path) -> None:
    MyCluster(app, "MyCluster", chart=chart)


def _release(app: cdk.App, _chart: Path) -> None:
    MyRelease(app, "MyRelease", eks_cluster_name="mine-eks", chart=Path("charts/priority-classes"))


def _own_eks_cluster(app: cdk.App, chart: Path) -> None:
    own_eks_cluster.add_stacks(app, chart=chart)


EXAMPLES: dict[str, Callable[[cdk.App, Path], None]] = {
    "one_stack": _one_stack,
    "helm_release": _release,
    "own_eks_cluster": _own_eks_cluster,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployments:
    """A bootstrapped local AWS, and what deploys an example to it."""

    environment: RehearsalEnvironment
    directory: Path
    chart: Path

    def cli(self, example: str) -> CdkCli:
        """Return the CDK CLI for an example, which is synthesized the first time."""
        assembly = self.directory / example
        if not assembly.exists():
            app = new_app(assembly, validate=False, assets=True)
            EXAMPLES[example](app, self.chart)
            app.synth()
        return CdkCli(
            process=self.environment.cdk,
            account=ACCOUNT,
            credentials=self.environment.aws.environment(),
            assembly=assembly,
            work_directory=self.directory,
            chart=self.chart,
            scripts=self.directory,
        )

    def deploy(self, example: str) -> None:
        """Deploy all stacks of an example."""
        self.cli(example).deploy(express=False, on_line=lambda _line: None)

    def clusters(self) -> dict[str, str]:
        """Return the status of each HyperPod cluster by its name."""
        found = self.environment.clients("sagemaker").list_clusters()["ClusterSummaries"]
        return {each["ClusterName"]: each["ClusterStatus"] for each in found}

    def priorities(self) -> list[str]:
        """Return the names of the PriorityClasses that a release made."""
        found = self.environment.kubernetes.objects(*PRIORITY)
        return [each["metadata"]["name"] for each in found]


@pytest.fixture(scope="module")
def deployments(chart: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployments]:
    directory = tmp_path_factory.mktemp("examples")
    with rehearsal_environment(
        account=ACCOUNT,
        region=REGION,
        kubernetes=InProcessControlPlane(kubernetes_version="1.34"),
        eks_cluster_name="mine-eks",
        log_file=directory / "local-aws.log",
        cdk=cdk_cli(),
    ) as environment:
        made = Deployments(environment=environment, directory=directory, chart=chart)
        administrator = ["arn:aws:iam::aws:policy/AdministratorAccess"]
        made.cli("one_stack").bootstrap(region=REGION, policies=administrator)
        yield made


@pytest.mark.whole
@pytest.mark.slow(seconds=15)
def test_the_whole_cluster_and_a_release_beside_it(deployments: Deployments) -> None:
    deployments.deploy("one_stack")
    assert deployments.clusters() == {"mine": "InService"}

    deployments.deploy("helm_release")
    assert "nightly" in deployments.priorities()
    deployments.cli("helm_release").destroy()
    assert "nightly" not in deployments.priorities()

    deployments.cli("one_stack").destroy()
    assert deployments.clusters() == {}


@pytest.mark.whole
@pytest.mark.slow(seconds=15)
def test_a_cluster_on_an_eks_cluster_of_ones_own(deployments: Deployments) -> None:
    deployments.deploy("own_eks_cluster")
    assert deployments.clusters() == {"mine": "InService"}
    eks = deployments.environment.clients("eks")
    assert "coredns" in eks.list_addons(clusterName="mine-eks")["addons"]

    deployments.cli("own_eks_cluster").destroy("HyperPod")
    assert deployments.clusters() == {}
    assert eks.list_clusters()["clusters"] == ["mine-eks"]

    deployments.cli("own_eks_cluster").destroy()
    assert eks.list_clusters()["clusters"] == []


@pytest.mark.parametrize("example", ["helm_release", "own_eks_cluster"])
def test_the_linter_finds_nothing(deployments: Deployments, example: str) -> None:
    deployments.cli(example)
    texts = Assembly(deployments.directory / example).texts()
    assert texts
    assert [findings(text, region=REGION) for text in texts.values()] == [()] * len(texts)

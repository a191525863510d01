"""The apps that use the library: what they deploy, and what they refuse."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
import pytest

from examples.helm_release.app import MyRelease
from examples.one_stack.app import MyCluster
from examples.own_eks_cluster import app as own_eks_cluster
from hyperpod_rehearsal.cdk_cli import CdkCli
from hyperpod_rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from tests.support.assembly import Assembly, new_app
from tests.support.configs import REPOSITORY
from tests.support.linter import findings
from tests.support.stages import cdk_cli
from tests.support.template_view import TemplateView

ACCOUNT, REGION = "111122223333", "us-west-2"
PRIORITY = ("scheduling.k8s.io/v1", "PriorityClass")


EXAMPLES: dict[str, Callable[[cdk.App, Path], object]] = {
    "one_stack": lambda app, chart: MyCluster(app, "MyCluster", chart=chart),
    "helm_release": lambda app, _chart: MyRelease(
        app, "MyRelease", eks_cluster_name="mine-eks", chart=Path("charts/priority-classes")
    ),
    "own_eks_cluster": lambda app, chart: own_eks_cluster.add_stacks(app, chart=chart),
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
            app = new_app(assembly, assets=True)
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
        kubernetes_version="1.35",
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


CLUSTER, RELEASE = "Custom::HyperPodCluster", "Custom::HelmRelease"


@pytest.fixture(scope="module")
def assemblies(chart: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Assembly]:
    found = {}
    for example, add in EXAMPLES.items():
        app = new_app(tmp_path_factory.mktemp(example))
        add(app, chart)
        found[example] = Assembly(Path(app.synth().directory))
    return found


@pytest.fixture(scope="module")
def view(assemblies: dict[str, Assembly]) -> TemplateView:
    return TemplateView(assemblies["one_stack"].templates()["MyCluster"])


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_linter_finds_nothing(assemblies: dict[str, Assembly], example: str) -> None:
    texts = assemblies[example].texts()
    assert texts
    assert [findings(text, region=REGION) for text in texts.values()] == [()] * len(texts)


def test_it_uses_public_names_only(repository: Path) -> None:
    example = (repository / "examples" / "one_stack" / "app.py").read_text("utf-8")

    modules = re.findall(r"^(?:from|import) (hyperpod_cdk[\w.]*)", example, re.MULTILINE)

    assert modules == ["hyperpod_cdk"]


def test_the_control_plane_and_the_dependencies_are_there(view: TemplateView) -> None:
    release = view.one(RELEASE)
    values = json.loads(view.text(release["Values"]))

    assert view.one("AWS::EKS::Cluster")["Name"] == "mine-eks"
    assert release["ClusterName"] == {"Ref": view.id("AWS::EKS::Cluster")}
    assert (release["Release"], release["Namespace"]) == ("hyperpod-dependencies", "kube-system")
    assert values["health-monitoring-agent"] == {"enabled": True, "region": "us-west-2"}
    assert values["nvidia-device-plugin"] == {"devicePlugin": {"enabled": True}}


def test_everything_that_nodes_need_is_there_before_them(view: TemplateView) -> None:
    assert view.dependency_types(view.id(CLUSTER)) >= {
        "AWS::EC2::NatGateway",
        "AWS::EC2::Route",
        "AWS::EC2::VPCEndpoint",
        "AWS::EKS::AccessEntry",
        "AWS::EKS::Cluster",
        "AWS::IAM::Policy",
        "Custom::LifecycleScripts",
        RELEASE,
    }
    assert "AWS::EKS::AccessEntry" in view.dependency_types(view.id(RELEASE))


@pytest.mark.parametrize(
    ("example", "told"),
    [
        (
            "one_stack",
            "build/charts/hyperpod-helm-chart.tgz: there is no chart; run `hyperpod-cdk charts`",
        ),
        ("helm_release", "eks_cluster_name: is missing; add -c eks_cluster_name=NAME"),
    ],
)
def test_what_is_missing_is_told_in_one_line(example: str, told: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "examples" / example / "app.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    *_, last = done.stderr.splitlines()
    assert last.startswith(told)
    assert "Traceback" not in done.stderr

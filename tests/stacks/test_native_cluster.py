"""A deployment whose cluster CloudFormation's own type makes."""

from pathlib import Path

import pytest

from hyperpod_cli.inspect.diagram.picture import picture
from tests.conftest import Configure
from tests.support.assembly import Assembly, synthesized
from tests.support.template_view import TemplateView


@pytest.fixture(scope="module")
def assembly(
    configure: Configure, chart: Path, tmp_path_factory: pytest.TempPathFactory
) -> Assembly:
    config = configure({"cluster": {"resource": "native"}})
    directory = tmp_path_factory.mktemp("native")
    return synthesized(config, chart=chart, directory=directory, validate=False)


def test_the_stack_has_the_same_outputs_but_the_shortage(assembly: Assembly) -> None:
    view = TemplateView(assembly.templates()["ml-hyperpod"])

    assert view.outputs.keys() == {"HyperPodClusterArn", "HyperPodClusterName"}
    assert view.ids("Custom::HyperPodCluster") == []
    releases = view.ids("Custom::HelmRelease")
    cluster = view.id("AWS::SageMaker::Cluster")
    assert {*releases} <= view.dependencies(cluster)
    # Before it, nothing of the stack is deleted.
    assert cluster in view.dependencies(view.id("Custom::DeletionCheck"))


def test_the_picture_shows_the_cluster(assembly: Assembly) -> None:
    drawn = picture(assembly.directory)

    assert "HyperPod cluster" in drawn
    assert "node recovery Automatic, provisioning Continuous" in drawn
    assert "nodes and pods" in drawn

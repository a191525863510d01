"""The Helm release as CloudFormation sees it: properties, values, rights, order."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks

from hyperpod_cdk import ConfigError, TooLargeError
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_shared.content import content_digest
from tests.conftest import Raises
from tests.constructs.conftest import View

RELEASE = "Custom::HelmRelease"


@pytest.fixture
def packaged(tmp_path: Path) -> Path:
    """Return a file with a packaged chart's name; nothing reads it at synth."""
    path = tmp_path / "some-chart-1.2.3.tgz"
    path.write_bytes(b"chart")
    return path


@pytest.fixture
def arguments(
    eks_cluster: eks.ICluster, provisioner: Provisioner, packaged: Path
) -> dict[str, Any]:
    """Return the arguments without a default."""
    return {
        "cluster": eks_cluster,
        "provisioner": provisioner,
        "chart": packaged,
        "release": "my-release",
        "namespace": "kube-system",
    }


def test_what_it_may_take_over_and_delete_and_wait_for(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    HelmRelease(
        stack,
        "Release",
        **arguments,
        adopt_namespaces=["kubeflow", "aws-hyperpod"],
        delete_user_objects=True,
        wait_for_ready=cdk.Duration.minutes(10),
    )

    properties = view().one(RELEASE)

    assert json.loads(properties["AdoptNamespaces"]) == ["kubeflow", "aws-hyperpod"]
    assert properties["DeleteUserObjects"] == "true"
    assert properties["WaitForReadyMinutes"] == "10"


def test_a_chart_directory_travels_as_a_zip(
    stack: cdk.Stack, arguments: dict[str, Any], tmp_path: Path, view: View
) -> None:
    chart = tmp_path / "chart"
    files = {"Chart.yaml": b"name: x", ".helmignore": b"*.md", "files/a.py": b"a"}
    for name, content in {**files, "files/__pycache__/a.pyc": b"compiled"}.items():
        (chart / name).parent.mkdir(parents=True, exist_ok=True)
        (chart / name).write_bytes(content)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "b.yaml").write_bytes(b"b")
    (chart / "templates").symlink_to(tmp_path / "shared")
    files["templates/b.yaml"] = b"b"

    HelmRelease(stack, "Release", **{**arguments, "chart": chart})

    properties = view().one(RELEASE)
    assert properties["ChartKey"].endswith(".zip")
    assert properties["ChartDigest"] == content_digest(files, read=files.__getitem__)


def test_values_keep_their_types_and_their_tokens(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    name = cdk.CfnResource(stack, "Thing", type="AWS::CloudFormation::WaitConditionHandle").ref
    values = {
        "number": 1200,
        "text": "1200",
        "truth": True,
        "none": None,
        "nested": {"list": [1, "two", {"three": name}]},
        "url": f"https://{name}.example",
        "quote": 'a "quoted" word\n',
    }
    HelmRelease(stack, "Release", **arguments, values=values)

    seen = view()
    handle = "<AWS::CloudFormation::WaitConditionHandle>"

    assert json.loads(seen.text(seen.one(RELEASE)["Values"])) == {
        **values,
        "nested": {"list": [1, "two", {"three": handle}]},
        "url": f"https://{handle}.example",
    }


@pytest.mark.parametrize(
    "names",
    [
        {"release": "My_Release"},
        {"release": "a" * 54},
        {"release": "--debug"},
        {"namespace": "kube_system"},
        {"namespace": ""},
    ],
)
def test_names_that_helm_or_kubernetes_refuse(
    stack: cdk.Stack, arguments: dict[str, Any], names: dict[str, str], raises: Raises
) -> None:
    with raises(ConfigError):
        HelmRelease(stack, "Release", **{**arguments, **names})


def test_a_name_that_is_not_known_yet(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    name = cdk.CfnResource(stack, "Thing", type="AWS::CloudFormation::WaitConditionHandle").ref
    HelmRelease(stack, "Release", **{**arguments, "namespace": f"team-{name}"})

    seen = view()

    assert seen.text(seen.one(RELEASE)["Namespace"]).startswith("team-<AWS::")


def test_values_that_do_not_reach_the_provisioner(
    stack: cdk.Stack, arguments: dict[str, Any], raises: Raises
) -> None:
    with raises(TooLargeError):
        HelmRelease(stack, "Release", **arguments, values={"text": "x" * 127_000})


@pytest.mark.parametrize("name", ["missing.tgz", "chart.zip", "missing"])
def test_what_is_no_chart_is_refused(
    stack: cdk.Stack, arguments: dict[str, Any], tmp_path: Path, name: str, raises: Raises
) -> None:
    (tmp_path / "chart.zip").write_bytes(b"")
    chart = tmp_path / name

    with raises(ValueError):
        HelmRelease(stack, "Release", **{**arguments, "chart": chart})

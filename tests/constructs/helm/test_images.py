"""Images from another registry: what they are called, and the values that say so."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.helm.images import image_values, is_from_outside, mirrored
from tests.support.configs import REPOSITORY
from tests.support.refusals import helm_lines

REGISTRY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod"
OREGON, VIRGINIA = "us-west-2", "us-east-1"
CHART = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "chart" / "hyperpod-helm-chart"
EFA = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.13"


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v0.16.1", "nvidia/k8s-device-plugin:v0.16.1"),
        ("mpioperator/mpi-operator:0.5", "mpioperator/mpi-operator:0.5"),
        ("nginx", "library/nginx"),
        ("localhost/own:1", "own:1"),
        ("registry:5000/own:1", "own:1"),
        (EFA, "eks/aws-efa-k8s-device-plugin:v0.5.13"),
        (f"{REGISTRY}/own:1", "own:1"),
        ("quay.io/a/b@sha256:" + "0" * 64, "a/b@sha256:" + "0" * 64),
    ],
)
def test_a_mirror_keeps_the_name(image: str, name: str) -> None:
    assert mirrored(image, registry=REGISTRY) == f"{REGISTRY}/{name}"


@pytest.mark.parametrize(
    ("image", "registry", "region", "outside"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v0.16.1", None, OREGON, True),
        ("public.ecr.aws/neuron/neuron-device-plugin:2", REGISTRY, OREGON, True),
        ("mpioperator/mpi-operator:0.5", REGISTRY, OREGON, True),
        (EFA, None, OREGON, False),
        (EFA, None, VIRGINIA, True),
        (EFA, None, None, False),
        (f"{REGISTRY}/own:1", REGISTRY, OREGON, False),
        ("registry.example.com/own:1", "registry.example.com", OREGON, False),
    ],
)
def test_a_closed_network_pulls_from_ecr_of_its_region_and_the_named_registry(
    image: str, registry: str | None, region: str | None, outside: bool
) -> None:
    assert is_from_outside(image, registry=registry, region=region) == outside


@pytest.mark.parametrize(
    "registry",
    [
        "https://registry.example.com",
        "Registry.example.com",
        "hyperpod",
        "a.com/",
        "a.com/B",
        "",
        # AmazonSageMakerFullAccess allows ecr:PutImage on repository/*sagemaker*.
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/team/sagemaker",
    ],
)
def test_what_is_no_registry_is_refused(registry: str, snapshot: SnapshotAssertion) -> None:
    (line,) = helm_lines({"image_registry": registry})

    assert line.startswith("helm.image_registry: ")
    assert line == snapshot


def write(chart: Path, name: str, content: object) -> None:
    file = chart / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.fixture(params=["directory", "archive"])
def chart(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A chart with images as charts name them."""
    folder = tmp_path / "a-chart"
    dependencies = [{"name": "plain"}, {"name": "nested", "alias": "other"}]
    write(folder, "Chart.yaml", {"name": "a-chart", "dependencies": dependencies})
    write(folder, "values.yaml", {"plain": {"image": {"repository": "b/own", "tag": "2"}}})
    write(folder, "charts/plain/values.yaml", {"image": {"repository": "a/b", "tag": "1"}})
    operator = {"registry": "quay.io", "repository": "x/y", "tag": "3"}
    write(folder, "charts/nested/values.yaml", {"operator": operator})
    write(
        folder,
        "charts/nested/charts/deep/values.yaml",
        {"a": {"repository": "nvcr.io/nvidia", "image": "driver"}, "repository": "no-image"},
    )
    if request.param == "directory":
        return folder
    return Path(shutil.make_archive(str(folder), "gztar", tmp_path, "a-chart"))


def test_values_name_the_registry_for_each_image(chart: Path) -> None:
    assert image_values(chart, registry="r.example.com") == {
        "global": {"imageRegistry": "r.example.com"},
        "plain": {"image": {"repository": "r.example.com/b/own"}},
        "other": {
            "operator": {"registry": "r.example.com"},
            "deep": {"a": {"repository": "r.example.com/nvidia"}},
        },
    }


def test_the_stand_in_chart_names_images_where_the_official_one_does() -> None:
    values: dict[str, Any] = image_values(CHART, registry=REGISTRY)

    assert values == {
        "global": {"imageRegistry": REGISTRY},
        "nvidia-device-plugin": {"image": {"repository": f"{REGISTRY}/nvidia-device-plugin"}},
        "aws-efa-k8s-device-plugin": {
            "image": {"repository": f"{REGISTRY}/aws-efa-k8s-device-plugin"}
        },
        "mpi-operator": {"mpiOperator": {"image": {"repository": f"{REGISTRY}/mpi-operator"}}},
        "training-operators": {"image": {"repository": f"{REGISTRY}/training-operator"}},
    }

"""docs/architecture.svg, the picture drawn from the templates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.config.config import Config
from hyperpod_cli.inspect.diagram.architecture import direct, groups, rows
from hyperpod_cli.inspect.diagram.picture import picture
from tests.conftest import Assemble, Configure
from tests.support.configs import CONFIG_FOLDER, CONFIGS

_SVG = "{http://www.w3.org/2000/svg}"
_GROUP = {"name": "debug", "instance_type": "ml.c5.xlarge", "instance_count": 3}


@pytest.fixture(scope="session")
def drawn(default_config: Config, assemble: Assemble) -> str:
    """Return the picture of the default configuration."""
    return picture(assemble(default_config).directory)


def _words(svg: str) -> str:
    root = ElementTree.fromstring(svg)  # noqa: S314 - drawn by the code under test
    return " ".join(element.text or "" for element in root.iter(f"{_SVG}text"))


def test_a_screen_reader_is_told_what_the_picture_shows(drawn: str) -> None:
    root = ElementTree.fromstring(drawn)  # noqa: S314 - drawn by the code under test
    labels = [root.find(f"{_SVG}{name}") for name in ("title", "desc")]
    assert root.get("role") == "img"
    assert [label.get("id") for label in labels if label is not None] == (
        (root.get("aria-labelledby") or "").split()
    )
    assert labels[1] is not None
    assert "Stack ml-hyperpod: " in (labels[1].text or "")
    assert "HyperPod cluster ml-cluster" in (labels[1].text or "")


@pytest.mark.parametrize(
    "expected",
    [
        "Stack ml-platform",
        "VPC 10.192.0.0/16 + 10.1.0.0/16",
        "Availability Zone usw2-az1 Public subnet 10.192.10.0/24 NAT gateway "
        "EKS subnet 10.192.7.0/28 out through the NAT gateway",
        "HyperPod subnet 10.1.0.0/16 nodes and pods out through the NAT gateway",
        "add-ons: vpc-cni, kube-proxy, eks-pod-identity-agent",
        "1200 GiB, 250 MB/s/TiB kept when the stack is deleted",
        "Instance group worker-group-1 1 of ml.g5.12xlarge",
        "uses the EKS cluster, Provisioner, Security group and VPC of ml-platform",
    ],
)
def test_the_default_deployment_is_described(drawn: str, expected: str) -> None:
    assert expected in _words(drawn)


@pytest.mark.parametrize(
    ("changes", "words", "lost"),
    [
        ({"storage": None}, "Stack ml-platform", "Helm release fsx-storage"),
        ({"cluster": {"instance_groups": [_GROUP]}}, "3 of ml.c5.xlarge", "worker-group-1"),
        ({"eks": {"endpoint_access": "private"}}, "private endpoint", "public and private"),
        ({"storage": {"capacity_gib": 2400}}, "2400 GiB", "1200 GiB"),
        ({"name": "other"}, "Stack other-platform", "Stack ml-platform"),
    ],
)
def test_another_configuration_gives_another_picture(
    changes: Mapping[str, Any], words: str, lost: str, configure: Configure, assemble: Assemble
) -> None:
    shown = _words(picture(assemble(configure(changes)).directory))
    assert words in shown
    assert lost not in shown
    assert lost in _words(picture(assemble(configure({})).directory))


def test_no_box_overlaps_another(drawn: str) -> None:
    root = ElementTree.fromstring(drawn)  # noqa: S314 - drawn by the code under test
    boxes = [
        tuple(float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
        for box in root.iter(f"{_SVG}rect")
    ]
    for index, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[index + 1 :]:
            apart = (
                other_x >= x + width
                or other_x + other_width <= x
                or other_y >= y + height
                or other_y + other_height <= y
            )
            inside = (
                other_x >= x
                and other_x + other_width <= x + width
                and other_y >= y
                and other_y + other_height <= y + height
            )
            assert apart or inside


def test_templates_of_an_earlier_synthesis_are_not_drawn(
    drawn: str, default_config: Config, assemble: Assemble
) -> None:
    directory = assemble(default_config).directory
    stale = directory / "old-platform.template.json"
    stale.write_text((directory / "ml-platform.template.json").read_text("utf-8"), "utf-8")
    try:
        assert picture(directory) == drawn
    finally:
        stale.unlink()


def test_rows_follow_needs() -> None:
    needs = {"cluster": ("release",), "release": (), "addon": ("cluster", "release")}
    assert rows(needs) == [["release"], ["cluster"], ["addon"]]
    assert direct(needs)["addon"] == ("cluster",)


def test_of_cards_that_need_each_other_the_one_with_the_fewest_needs_is_first() -> None:
    needs = {"one": ("other", "third"), "other": ("one",), "third": ("other",)}
    assert rows(needs) == [["other"], ["third"], ["one"]]
    assert direct(needs)["other"] == ("one",)


def test_groups_are_what_is_connected() -> None:
    needs = {"bucket": (), "vpc": (), "scripts": ("bucket",), "role": (), "eks": ("vpc",)}
    assert sorted(map(sorted, groups(needs))) == [["bucket", "scripts"], ["eks", "vpc"], ["role"]]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_each_configuration_is_drawn(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    assert f"HyperPod cluster {config.cluster.name}" in _words(picture(assemble(config).directory))


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("existing-network", "Existing VPC vpc-0a1b2c3d4e5f60718"),
        ("existing-network", "Existing EKS subnet subnet-0a1b2c3d4e5f60001"),
        ("existing-network", "Existing HyperPod subnet subnet-0a1b2c3d4e5f60003 nodes and pods"),
        ("existing-network", "Existing security group sg-0a1b2c3d4e5f60004 in, from itself, added"),
        ("existing-vpc", "Existing VPC vpc-0b1b2c3d4e5f60718 + 10.41.0.0/16 + 10.42.0.0/16"),
        ("existing-vpc", "HyperPod subnet 10.41.0.0/16 nodes and pods out through existing nat-"),
        ("existing-vpc", "HyperPod subnet 10.42.0.0/16 nodes and pods out through existing rtb-"),
    ],
)
def test_what_exists_is_shown_as_such(example: str, expected: str, assemble: Assemble) -> None:
    config = load_config(CONFIG_FOLDER / "examples" / f"{example}.yaml")
    assert expected in _words(picture(assemble(config).directory))

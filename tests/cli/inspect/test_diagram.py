"""The picture of a deployment: what it shows, and its formats."""

import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from hyperpod_cdk import Config, load_config
from hyperpod_cli.inspect.diagram.picture import picture
from hyperpod_cli.main import app
from tests.support.configs import CONFIG_FOLDER, CONFIGS, configure

_SVG = "{http://www.w3.org/2000/svg}"
_DEFAULT = CONFIG_FOLDER / "default.yaml"
Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Return a function that runs `hyperpod-cdk diagram`."""
    return lambda *options: CliRunner().invoke(app(), ["diagram", *map(str, options)])


def _parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - drawn by the code under test


def _words(svg: str) -> str:
    return " ".join(element.text or "" for element in _parsed(svg).iter(f"{_SVG}text"))


def _groups(count: int) -> list[dict[str, Any]]:
    return [
        {"name": f"group-{number}", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
        for number in range(count)
    ]


def test_the_suffix_of_the_file_says_the_format(run: Run, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png"):
        result = run(_DEFAULT, "--output", tmp_path / "new" / name)
        assert (result.exit_code, result.output) == (0, f"wrote {tmp_path / 'new' / name}\n")

    svg = (tmp_path / "new/a.svg").read_text("utf-8")
    assert svg == picture(load_config(_DEFAULT)) == run(_DEFAULT).stdout
    image = (tmp_path / "new/a.png").read_bytes()
    width, height = struct.unpack(">II", image[16:24])
    assert f'viewBox="0 0 {width // 2} {height // 2}"' in svg


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([_DEFAULT, "--output", "m.jpg"], "--output: 'm.jpg' must end with .svg or .png"),
        ([_DEFAULT, "--output", "file/a.svg"], "--output: "),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    run: Run, arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    result = run(*arguments)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(told)


def test_png_says_what_it_lacks(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = (_DEFAULT, "--output", tmp_path / "a.png")
    monkeypatch.setattr("hyperpod_cli.inspect.diagram.png._FAMILIES", ("No Such Family",))
    result = run(*options)
    assert (result.exit_code, "none of No Such Family; install one" in result.stderr) == (2, True)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = run(*options)
    assert (result.exit_code, "run `pip install resvg-py`" in result.stderr) == (2, True)
    assert [*tmp_path.iterdir()] == []


def test_a_screen_reader_is_told_what_the_picture_shows() -> None:
    root = _parsed(picture(load_config(_DEFAULT)))
    said = root.findtext(f"{_SVG}desc") or ""
    assert (root.get("role"), root.get("aria-label")) == ("img", "ml: HyperPod on EKS")
    assert "VPC 10.192.0.0/16, 2 NAT gateways, EKS 1.35" in said
    assert "worker-group-1: 1 x ml.g5.12xlarge" in said


@pytest.mark.parametrize(
    ("changes", "shown", "hidden"),
    [
        (
            {},
            "VPC 10.192.0.0/16 + 10.1.0.0/16 internet gateway, S3 endpoint usw2-az1 Public subnet "
            "10.192.10.0/24 NAT gateway EKS subnet 10.192.7.0/28 usw2-az2",
            "more groups",
        ),
        ({}, "Subnet of nodes 10.1.0.0/16 HyperPod cluster ml-cluster worker-group-1 1 x", "Slurm"),
        ({}, "ml.g5.12xlarge EFA worker-group-2 1 x ml.m5.2xlarge FSx for Lustre", "OpenZFS"),
        ({}, "Who trains kubectl", "Observability"),
        ({"storage": None}, "S3 lifecycle scripts of the nodes", "FSx for Lustre"),
        ({"eks": {"endpoint_access": "private"}}, "Kubernetes 1.35, private endpoint", "public "),
        ({"cluster": {"instance_groups": _groups(7)}}, "and 3 more groups", "group-4"),
        ({"observability": {"prometheus": {}}}, "Observability Prometheus", "Grafana"),
        ({"operators": {"cert_manager": True}}, "operators: cert manager", "metrics server"),
        ({"name": "other"}, "other-platform", "ml-platform"),
    ],
)
def test_the_picture_shows_the_configuration(
    changes: Mapping[str, Any], shown: str, hidden: str
) -> None:
    words = _words(picture(configure(changes)))
    assert shown in words
    assert hidden not in words


@pytest.mark.parametrize(
    ("example", "shown"),
    [
        ("slurm", "ml: HyperPod with Slurm AWS us-west-2 Who deploys"),
        ("examples/existing-eks", "Existing EKS control plane research"),
        ("examples/existing-network", "Existing VPC vpc-0a1b2c3d4e5f60718"),
        ("examples/existing-network", "Subnet of nodes subnet-0a1b2c3d4e5f60003"),
        ("examples/eks-p4d", "EKS node group"),
        ("examples/several-zones", "use1-az6 Subnet of nodes 10.2.0.0/16 HyperPod cluster"),
    ],
)
def test_an_example_is_drawn_for_what_it_is(example: str, shown: str) -> None:
    assert shown in _words(picture(load_config(CONFIG_FOLDER / f"{example}.yaml")))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_box_overlaps_another_and_each_group_is_there(path: Path) -> None:
    config: Config = load_config(path)
    svg = picture(config)
    boxes = [
        tuple(float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
        for box in _parsed(svg).iter(f"{_SVG}rect")
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
    names = [group.name for group in config.cluster.all_groups]
    names += [group.name for group in config.node_groups]
    assert "more groups" in svg or [name for name in names if name not in svg] == []

"""The picture of a deployment: what it shows, and its formats."""

import struct
import sys
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion
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
    return "\n".join(element.text or "" for element in _parsed(svg).iter(f"{_SVG}text"))


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


@pytest.mark.parametrize("output", ["m.jpg", "file/a.svg"])
def test_what_cannot_be_drawn_is_one_line(
    run: Run,
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    result = run(_DEFAULT, "--output", output)
    assert result.exit_code == 2
    assert result.stderr.replace(str(tmp_path), "TMP") == snapshot


def test_png_says_what_it_lacks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    options = (_DEFAULT, "--output", tmp_path / "a.png")
    monkeypatch.setattr("hyperpod_cli.inspect.diagram.png._FAMILIES", ("No Such Family",))
    without_font = run(*options)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    without_library = run(*options)
    assert without_font.exit_code == without_library.exit_code == 2
    assert without_font.stderr + without_library.stderr == snapshot
    assert [*tmp_path.iterdir()] == []


def test_a_screen_reader_is_told_what_the_picture_shows(snapshot: SnapshotAssertion) -> None:
    root = _parsed(picture(load_config(_DEFAULT)))
    assert (root.get("role"), root.get("aria-label")) == ("img", "ml: HyperPod on EKS")
    assert root.findtext(f"{_SVG}desc") == snapshot


CHANGES: Mapping[str, Mapping[str, Any]] = {
    "no storage": {"storage": None},
    "private endpoint": {"eks": {"endpoint_access": "private"}},
    "many groups": {"cluster": {"instance_groups": _groups(7)}},
    "Prometheus": {"observability": {"prometheus": {}}},
    "an operator": {"operators": {"cert_manager": True}},
    "another name": {"name": "other"},
}
EXAMPLES = ("existing-eks", "existing-network", "eks-p4d", "several-zones")


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_the_picture_shows_the_configuration(
    changes: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    default, words = (_words(picture(configure(each))).split("\n") for each in ({}, changes))
    assert "\n".join(unified_diff(default, words, n=0, lineterm="")) == snapshot


@pytest.mark.parametrize("file", ["default", "slurm", *(f"examples/{name}" for name in EXAMPLES)])
def test_a_configuration_is_drawn_for_what_it_is(file: str, snapshot: SnapshotAssertion) -> None:
    assert _words(picture(load_config(CONFIG_FOLDER / f"{file}.yaml"))) == snapshot


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

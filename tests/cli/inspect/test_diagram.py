"""The picture of a deployment: what it shows, and its formats."""

import struct
import sys
from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from hyperpod_cdk import Config, load_config
from hyperpod_cli.inspect.diagram.architecture import StackPicture, direct, groups, rows
from hyperpod_cli.inspect.diagram.card import Card, Column
from hyperpod_cli.inspect.diagram.picture import mermaid, picture, pictured
from hyperpod_cli.inspect.diagram.svg import draw
from hyperpod_cli.main import app
from tests.conftest import Assemble
from tests.support.configs import CONFIG_FOLDER, CONFIGS, configure, configured

HOSTILE = '"]; click <b>&#1;`'
STACKS = [
    StackPicture(
        name="ml-platform",
        description="",
        cards={
            "Vpc": Card(
                kind="VPC",
                lines=("",),
                columns=(Column(title="zone", cards=(Card(kind="Subnet", lines=("EKS",)),)),),
            ),
            "Eks": Card(kind="EKS cluster", name=HOSTILE),
        },
        needs={"Vpc": (), "Eks": ("Vpc",)},
        takes={},
    ),
    StackPicture(
        name="end", description="", cards={}, needs={}, takes={"ml-platform": ("EKS cluster",)}
    ),
]
Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Return a function that runs `hyperpod-cdk diagram`."""
    return lambda *options: CliRunner().invoke(app(), ["diagram", *map(str, options)])


@pytest.fixture(scope="module")
def folder(default_config: Config, assemble: Assemble) -> Path:
    """The templates of the default configuration."""
    return assemble(default_config).directory


def test_a_flowchart_has_every_card_and_what_needs_what() -> None:
    assert mermaid(STACKS, title="HyperPod").splitlines() == [
        "flowchart BT",
        "  accTitle: HyperPod",
        '  subgraph n_ml_platform["Stack ml-platform"]',
        '    n_ml_platform_Vpc["VPC<br>zone<br>Subnet, EKS"]',
        '    n_ml_platform_Eks["EKS cluster #quot;]; click #lt;b#gt;#amp;#35;1;#96;"]',
        "  end",
        '  subgraph n_end["Stack end"]',
        "  end",
        "  n_ml_platform_Eks --> n_ml_platform_Vpc",
        "  n_end --> n_ml_platform",
    ]


def test_a_stack_of_which_nothing_is_drawn_has_its_name() -> None:
    drawn = ElementTree.fromstring(draw(STACKS, title="HyperPod"))  # noqa: S314 - our own

    assert any("end" in text.split() for text in drawn.itertext())


def test_the_suffix_of_the_file_says_the_format(
    run: Run, folder: Path, drawn: str, tmp_path: Path
) -> None:
    for name in ("a.svg", "a.png", "a.mmd"):
        result = run("--templates", folder, "--output", tmp_path / "new" / name)
        assert (result.exit_code, result.output) == (0, f"wrote {tmp_path / 'new' / name}\n")

    svg = (tmp_path / "new/a.svg").read_text("utf-8")
    assert svg == drawn
    assert (tmp_path / "new/a.mmd").read_text("utf-8").startswith("flowchart BT\n")
    image = (tmp_path / "new/a.png").read_bytes()
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", image[16:24])
    assert f'viewBox="0 0 {width // 2} {height // 2}"' in svg
    assert run("--templates", folder, "--format", "svg").stdout == svg


def test_without_a_folder_it_synthesizes(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app_ = tmp_path / "app.py"
    app_.write_text(
        "import shutil\n"
        "def main(*, config, output):\n"
        "    assert str(config) == 'mine.yaml'\n"
        f"    shutil.copytree({str(folder)!r}, output, dirs_exist_ok=True)\n"
        "    return 0\n"
    )
    monkeypatch.chdir(tmp_path)
    assert run("--config", "mine.yaml").stdout == picture(folder)

    app_.write_text("import sys\ndef main(**_): sys.exit('mine.yaml:1: name: is missing')\n")
    refused = run("--config", "mine.yaml")
    assert (refused.exit_code, refused.stderr) == (2, "mine.yaml:1: name: is missing\n")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--templates", "nowhere"], "--templates: [Errno 2] No such file or directory: 'nowhere"),
        (["--config", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
        (["--output", "m.jpg"], "--output: 'm.jpg' must end with .svg, .png, .mmd, .mermaid; or"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    run: Run,
    options: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*options)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(told)


def test_a_file_that_cannot_be_written_is_one_line(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("--templates", folder, "--output", tmp_path / "file" / "a.svg")
    assert result.exit_code == 2
    assert result.stderr.startswith("--output: ")


def test_png_says_what_it_lacks(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--templates", folder, "--output", tmp_path / "a.png")
    monkeypatch.setattr("hyperpod_cli.inspect.diagram.picture._FAMILIES", ("No Such Family",))
    result = run(*options)
    assert (result.exit_code, "none of No Such Family; install one" in result.stderr) == (2, True)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = run(*options)
    assert (result.exit_code, "run `pip install resvg-py`" in result.stderr) == (2, True)
    assert [*tmp_path.iterdir()] == []


_SVG = "{http://www.w3.org/2000/svg}"
_DYNAMIC = {"storage": {"dynamic_provisioning": True}}
_GROUP = {"name": "debug", "instance_type": "ml.c5.xlarge", "instance_count": 3}


@pytest.fixture(scope="module")
def drawn(folder: Path) -> str:
    """Return the picture of the default configuration."""
    return picture(folder)


def _parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - drawn by the code under test


def _words(svg: str) -> str:
    return " ".join(element.text or "" for element in _parsed(svg).iter(f"{_SVG}text"))


def test_a_screen_reader_is_told_what_the_picture_shows(drawn: str) -> None:
    root = _parsed(drawn)
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


def test_a_slurm_cluster_has_its_controller_and_partitions(assemble: Assemble) -> None:
    shown = _words(picture(assemble(load_config(CONFIG_FOLDER / "slurm.yaml")).directory))

    for words in (
        "HyperPod with Slurm Arrows",
        "orchestrated by Slurm file systems mounted at /fsx Controller group controller",
        "Partition gpu: group worker-group-1 1 of ml.g5.12xlarge",
    ):
        assert words in shown
    assert "EKS cluster" not in shown and "pods out" not in shown


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
    *, changes: Mapping[str, Any], words: str, lost: str, drawn: str, assemble: Assemble
) -> None:
    shown = _words(picture(assemble(configure(changes)).directory))
    assert words in shown
    assert lost not in shown
    assert lost in _words(drawn)


def test_what_a_topic_and_a_budget_are_is_said(assemble: Assemble) -> None:
    emails = {"emails": ["a@example.com"]}
    parts = {"notifications": emails, "budget": {"monthly_usd": 900, **emails}, "cloudwatch": {}}
    shown = _words(picture(assemble(configure({"observability": parts})).directory))
    for words in (
        "Budget 900 USD a month",
        "SNS topic ml-observability-NotificationsTopic",
        "DynamoDB table",
        "CloudWatch dashboard ml-observability",
    ):
        assert words in shown


def test_no_box_overlaps_another(drawn: str) -> None:
    boxes = [
        tuple(float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
        for box in _parsed(drawn).iter(f"{_SVG}rect")
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


def test_templates_of_an_earlier_synthesis_are_not_drawn(drawn: str, folder: Path) -> None:
    stale = folder / "old-platform.template.json"
    stale.write_text((folder / "ml-platform.template.json").read_text("utf-8"), "utf-8")
    try:
        assert picture(folder) == drawn
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


@pytest.mark.parametrize(
    "config",
    [
        *(pytest.param(load_config(path), id=path.stem) for path in CONFIGS),
        *(
            pytest.param(configured({**_DYNAMIC, **changes}), id=f"dynamic {[*changes]}")
            for changes in (
                dict[str, Any](),
                {"encryption": {"create_kms_key": True}},
                {"eks": {"endpoint_access": "private"}},
            )
        ),
    ],
)
def test_each_configuration_is_drawn(config: Config, assemble: Assemble) -> None:
    folder = assemble(config).directory
    title = f"HyperPod cluster {config.cluster.name}"
    words = _words(picture(folder))
    assert (title in words) is config.cluster.exists
    assert ("HyperPod" in words) is config.cluster.exists
    assert "Fn::" not in words
    for group in config.node_groups:
        assert f"EKS node group {group.name} {group.min_size} to " in words
    for stack in pictured(folder):
        for name, card in stack.cards.items():
            # It has a name of AWS or none; that of what exists is where it is, too.
            assert name not in card.title or card.kind.startswith("Existing"), card.title
        # Fails where cards need each other.
        assert {*TopologicalSorter(stack.needs).static_order()} == stack.cards.keys()


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

"""The diagram as Mermaid and PNG, and the command that writes it."""

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hyperpod_cdk import Config
from hyperpod_cli.inspect.diagram.architecture import StackPicture
from hyperpod_cli.inspect.diagram.card import Card, Column
from hyperpod_cli.inspect.diagram.picture import mermaid, picture
from hyperpod_cli.main import app
from tests.conftest import Assemble

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
    """Return a function that runs `hyperpod-ops diagram`."""
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


def test_the_suffix_of_the_file_says_the_format(run: Run, folder: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png", "a.mmd"):
        result = run("--templates", folder, "--output", tmp_path / "new" / name)
        assert (result.exit_code, result.output) == (0, f"wrote {tmp_path / 'new' / name}\n")

    svg = (tmp_path / "new/a.svg").read_text("utf-8")
    assert svg == picture(folder)
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
        ([], "app.py: is not in this folder"),
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

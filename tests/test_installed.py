"""The wheels of the three distributions: their bytes, and a first hour with them."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.configs import REPOSITORY

DISTRIBUTIONS = ("aws_reference", "emulator", ".")
# Of the registries, which this machine may reach through a proxy or a mirror.
_REGISTRIES = ("PIP_", "NPM_CONFIG_", "NODE_EXTRA", "SSL_CERT", "HTTP", "NO_PROXY")
_ANSWERS = {
    "name": "mine",
    "region": "us-west-2",
    "zones": "usw2-az1,usw2-az2",
    "type": "ml.g5.xlarge",
    "count": "1",
    "storage": "1200",
}


def built(folder: Path) -> dict[str, bytes]:
    """Build the sources and, from them, the wheels into a folder; return their bytes."""
    for name in DISTRIBUTIONS:
        build = ["-m", "build", "--no-isolation", "--outdir", str(folder)]
        project = str(REPOSITORY / name)
        subprocess.run([sys.executable, *build, project], check=True, capture_output=True)
    return {path.name: path.read_bytes() for path in folder.glob("*-*")}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels."""
    folder = tmp_path_factory.mktemp("wheels")
    built(folder)
    return folder


@pytest.mark.slow(seconds=15)
@pytest.mark.whole
def test_two_builds_give_the_same_bytes(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    mask = os.umask(0o077)
    try:
        again = built(tmp_path)
    finally:
        os.umask(mask)

    assert len(again) == 2 * len(DISTRIBUTIONS)
    assert again == {path.name: path.read_bytes() for path in wheels.glob("*-*")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An empty folder of someone who has installed the wheels, and little else."""

    folder: Path
    environment: Path

    def run(self, *arguments: str, code: int = 0) -> Sequence[str]:
        """Run the command line; return the lines that it prints."""
        kept = {
            key: value for key, value in os.environ.items() if key.upper().startswith(_REGISTRIES)
        }
        done = subprocess.run(
            [self.environment / "bin" / "hyperpod-cdk", *arguments],
            cwd=self.folder,
            # The caches are below HOME, which is new.
            env={**kept, "PATH": "/usr/bin:/bin", "HOME": str(self.folder.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout.splitlines()


@pytest.fixture(scope="module")
def place(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Install the wheels into an environment that has the packages that they need."""
    home = tmp_path_factory.mktemp("home")
    environment, folder = home / "environment", home / "empty"
    folder.mkdir()
    venv.create(environment, with_pip=True)
    python = str(environment / "bin" / "python")
    # To resolve takes seconds, and to install minutes: the packages are this environment's.
    wanted = ["--find-links", str(wheels), "hyperpod-cdk[rehearsal]"]
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--dry-run", "--python", python, *wanted],
        check=True,
        capture_output=True,
    )
    pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, *wheels.glob("*.whl")], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    return Place(folder=folder, environment=environment)


@pytest.mark.slow(seconds=120)
@pytest.mark.whole
def test_a_first_hour_in_an_empty_folder(place: Place) -> None:
    answers = [part for key, value in _ANSWERS.items() for part in (f"--{key}", value)]
    assert place.run("init", *answers)[0].startswith("Wrote mine.yaml")
    assert any("mine-hyperpod" in line for line in place.run("validate"))
    assert any("ml.g5.xlarge" in line for line in place.run("cost"))
    assert place.run("synth")[0].startswith("Installing the CDK CLI ")
    assert (place.folder / "cdk.out" / "mine" / "mine-hyperpod.template.json").is_file()

    train = ["train", "--values", "llama2-7b-g5", "--group", "worker-group-1"]
    for command in (["preflight"], ["deploy", "--yes"], ["status"], train):
        *_, line = place.run(*command, code=2)
        assert line.startswith("AWS credentials: none found"), command

    *_, verdict = place.run("rehearse")
    assert verdict.startswith("Rehearsal succeeded")
    assert [path.name for path in place.folder.glob("*.yaml")] == ["mine.yaml"]


@pytest.mark.slow(seconds=5)
@pytest.mark.whole
def test_what_needs_a_checkout_or_a_network_is_named_in_one_line(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(REPOSITORY / "config" / "pipeline", place.folder / "pipeline")
    *_, line = place.run("rehearse", "pipeline", "pipeline/pipeline.yaml", code=2)
    assert "clone the project" in line

    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:1")
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")
    (tmp_path / "empty").mkdir()
    elsewhere = Place(folder=tmp_path / "empty", environment=place.environment)
    config = str(REPOSITORY / "config" / "default.yaml")
    *_, line = elsewhere.run("synth", config, code=2)
    assert line.startswith("CDK CLI ")
    assert "npm cannot install it" in line

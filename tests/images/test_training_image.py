"""images/training: what its Dockerfiles say, and what their commands do without Docker.

A virtual environment stands in for the Python of AWS's container, and a folder for its root: that
the container starts, has GPUs or Trainium and lets this user train is not tried.
"""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from hyperpod_cdk.facts.deep_learning_containers import (
    BASE_IMAGES,
    REGISTRY_ACCOUNTS,
    BaseImage,
    registry_of,
)
from hyperpod_cdk.workloads.images import build_script, training_image
from tests.support.configs import REPOSITORY

CONTEXT = REPOSITORY / "images" / "training"
BASES = sorted(BASE_IMAGES.values(), key=lambda base: base.name)
TRAINING = REPOSITORY / ".venv" / "training"
Instruction = tuple[str, str]


def _instructions(base: BaseImage) -> list[Instruction]:
    with (CONTEXT / f"Dockerfile.{base.name}").open(encoding="utf-8") as file:
        structure = DockerfileParser(fileobj=file).structure
    return [(each["instruction"], each["value"]) for each in structure]


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_it_begins_with_the_container_runs_as_a_user_and_holds_no_secret(base: BaseImage) -> None:
    found = _instructions(base)
    values = {name: value for name, value in found if name in ("FROM", "USER")}
    settings = [value for name, value in found if name in ("ARG", "ENV")]

    assert values["FROM"] == f"${{DLC_REGISTRY}}/{base.repository}:{base.tag}"
    assert ("ARG", f"DLC_REGISTRY={registry_of('us-west-2')}") in found
    assert re.fullmatch(r"[1-9]\d*", values["USER"])
    assert not [each for each in settings if re.search("(?i)token|secret|password|key", each)]


def test_both_install_alike() -> None:
    gpu, neuron = (
        [(k, v.replace(base.name, "")) for k, v in _instructions(base) if k in _PLAYED]
        for base in BASES
    )

    assert gpu == neuron


_PLAYED = ("ARG", "COPY", "ENV", "RUN", "USER", "WORKDIR")
# The machine that plays a build keeps its users and its packages.
_STAND_IN = '#!/bin/sh\necho "$@" >> "$ROOT/${0##*/}"\n'


def _script(instructions: list[Instruction], root: Path) -> Iterator[str]:
    """Yield what a build does, in Bash, with `root` in the place of /."""
    folder = root
    for name, value in instructions:
        match name:
            case "ARG" if "PIP_" in value:
                yield f"export {value}"
            case "ENV":
                key, _, path = value.partition("=")
                yield f"export {key}={root}{path}"
            case "WORKDIR":
                folder = root / value.lstrip("/")
                yield f"mkdir -p {folder} && cd {folder}"
            case "COPY":
                source, target = value.split()
                yield f"cp -r {CONTEXT / source} {folder / target}"
            case "RUN":
                yield value


@pytest.mark.whole
@pytest.mark.slow(seconds=60)
def test_its_commands_install_by_hash_and_import(tmp_path: Path) -> None:
    """PyTorch is that of the tests, as the container brings its own."""
    assert (TRAINING / ".installed").exists(), "run `make setup-training`"
    python = tmp_path / "usr"
    venv.create(python, with_pip=True, symlinks=True)
    for kept in ("apt-get", "rm", "useradd"):
        stand_in = python / "bin" / kept
        stand_in.write_text(_STAND_IN, encoding="utf-8")
        stand_in.chmod(0o755)
    [packages] = (TRAINING / "lib").glob("python*/site-packages")
    [own] = (python / "lib").glob("python*/site-packages")
    (own / "container.pth").write_text(f"{packages}\n", encoding="utf-8")
    script = "\n".join(["set -euo pipefail", *_script(_instructions(BASE_IMAGES["GPU"]), tmp_path)])

    done = subprocess.run(
        ["bash", "-c", script],
        env={
            **{key: os.environ[key] for key in os.environ if key.startswith("PIP_")},
            "PATH": f"{python / 'bin'}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "ROOT": str(tmp_path),
            # What the environment of the tests has is installed again, as it is not in a container.
            "PIP_IGNORE_INSTALLED": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "--uid 10000" in (tmp_path / "useradd").read_text(encoding="utf-8")
    assert " fio\n" in (tmp_path / "apt-get").read_text(encoding="utf-8")
    program = str(python / "bin" / "python")
    listing = [program, "-m", "pip", "list", "--path", str(own), "--format", "json"]
    added = json.loads(subprocess.run(listing, capture_output=True, check=True).stdout)
    assert {"torch"}.isdisjoint(each["name"] for each in added)


def test_shellcheck_takes_what_codebuild_runs(tmp_path: Path) -> None:
    file = tmp_path / "build.sh"
    for base in BASES:
        image = training_image(base, context=CONTEXT)
        text = build_script(image, index="https://pypi.example.com/simple")
        file.write_text(f"#!/bin/bash\n{text}", encoding="utf-8")
        # CodeBuild's environment has the variables in capitals, which it takes as such.
        command = [Path(sys.executable).with_name("shellcheck"), file]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout


def test_a_tag_follows_what_is_built_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    steps = {
        "Dockerfile.gpu": "FROM gpu",
        "package/main.py": "print()",
        "Dockerfile.neuron": "FROM neuron",
        "package/.hidden": "",
    }
    tags = []
    for name, text in steps.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        tags.append(training_image(BASE_IMAGES["GPU"], context=tmp_path).tag)
    compiled = tmp_path / "package" / "__pycache__"
    compiled.mkdir()
    (compiled / "main.pyc").write_bytes(b"compiled")
    os.utime(tmp_path / "package" / "main.py", (0, 0))
    tags.append(training_image(BASE_IMAGES["GPU"], context=tmp_path).tag)

    assert [one == other for one, other in pairwise(tags)] == [False, True, True, True]
    assert re.fullmatch(r"gpu-[0-9a-f]{16}", tags[0])


def test_registries_are_those_that_the_cdk_knows() -> None:
    """The CDK's list is shorter; where it has a region, it agrees, and so does the domain."""
    from aws_cdk.region_info import RegionInfo  # noqa: PLC0415 - which takes seconds

    compared = 0
    for name in REGISTRY_ACCOUNTS:
        info = RegionInfo.get(name)
        if info.dlc_repository_account is not None:
            compared += 1
            host = f"{info.dlc_repository_account}.dkr.ecr.{name}.{info.domain_suffix}"
            assert registry_of(name) == host
    assert compared > len(REGISTRY_ACCOUNTS) // 2

"""The versions of EKS add-ons that are pinned, against those that EKS offers."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_emulator.aws.local_aws import LocalAws
from tests.support.commands import run
from tests.support.configs import default_document


def test_each_pinned_version_is_offered() -> None:
    path = files("hyperpod_emulator") / "aws" / "eks" / "addon_versions.json"
    offered = json.loads(path.read_text("utf-8"))
    pinned = {
        (name, kubernetes, version)
        for kubernetes, versions in ADDON_VERSIONS.items()
        for name, version in versions.items()
    }

    assert {each for each in pinned if each[2] not in offered[each[0]][each[1]]} == set()


def test_the_command_shows_pinned_default_and_newest_versions(
    aws: LocalAws,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)

    document = {**default_document(), "eks": {"version": "1.34"}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(document))

    assert run("addon-versions", "--config", tmp_path / "mine.yaml") == 0

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["coredns", "v1.13.2-eksbuild.7", "v1.12.3-eksbuild.1", "v1.13.2-eksbuild.7"] in rows
    newer = ["vpc-cni", "v1.21.1-eksbuild.7", "v1.20.4-eksbuild.2", "v1.21.1-eksbuild.8", "newer"]
    assert newer in rows

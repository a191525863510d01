"""The versions of EKS add-ons that are pinned, against those that EKS offers."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import client
from tests.support.commands import run
from tests.support.configs import default_document


def test_each_pinned_version_is_offered_also_after_the_next_upgrade(aws: LocalAws) -> None:
    """Where the next upgrade fails, its rollback restores the add-ons and not the version."""
    offered = {
        (addon["addonName"], version["addonVersion"], compatibility["clusterVersion"])
        for addon in client(aws, "eks").describe_addon_versions()["addons"]
        for version in addon["addonVersions"]
        for compatibility in version["compatibilities"]
    }
    following = dict(pairwise(HYPERPOD_KUBERNETES_VERSIONS))
    wanted = {
        (name, version, kubernetes)
        for pinned, versions in ADDON_VERSIONS.items()
        for kubernetes in (pinned, following.get(pinned, pinned))
        for name, version in versions.items()
    }

    assert wanted - offered == set()


def test_the_newest_version_is_offered_first(aws: LocalAws) -> None:
    asked = {"addonName": "coredns", "kubernetesVersion": "1.35"}
    versions = client(aws, "eks").describe_addon_versions(**asked)["addons"][0]["addonVersions"]
    assert versions[0]["addonVersion"] == "v1.14.2-eksbuild.4"


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

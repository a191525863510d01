"""Which package of the official chart a synthesis takes, whoever starts it."""

import hashlib
from pathlib import Path

import pytest
from aws_cdk import App

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_stacks.app import main
from hyperpod_stacks.deployment import add_stacks
from hyperpod_stacks.packaged_chart import OFFICIAL_CHART, pinned_chart
from tests.support.configs import CONFIG_FOLDER
from tests.support.provisioner.helm_charts import tgz

PACKAGE = tgz({"deps/Chart.yaml": b"apiVersion: v2\nname: deps\nversion: 1.0.0\n"})
DIGEST = hashlib.sha256(PACKAGE).hexdigest()


@pytest.fixture(autouse=True)
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a package of the official chart that is not the pinned one."""
    (tmp_path / OFFICIAL_CHART).parent.mkdir(parents=True)
    (tmp_path / OFFICIAL_CHART).write_bytes(PACKAGE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CHART_GIT_COMMIT", raising=False)


def test_another_package_is_refused(
    default_config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(config=CONFIG_FOLDER / "default.yaml") == 2
    line = capsys.readouterr().err
    assert line.startswith(f"{OFFICIAL_CHART}: has SHA-256 {DIGEST}, but ")
    assert not Path("cdk.out").exists()
    with pytest.raises(HyperPodChartError, match=DIGEST):
        add_stacks(App(), config=default_config)


def test_a_package_is_taken_by_its_digest_or_of_a_commit_that_the_user_names(
    default_config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not pinned_chart(default_config, sha256=DIGEST).is_placeholder
    monkeypatch.setenv("CHART_GIT_COMMIT", "0" * 40)
    assert not pinned_chart(default_config).is_placeholder

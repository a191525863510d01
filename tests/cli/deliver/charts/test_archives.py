"""Charts' own files, and the digests of archives."""

import re
from pathlib import Path

import pytest
import yaml

from hyperpod_cli.deliver.charts.archives import read_chart_directory, sha256_of
from hyperpod_cli.deliver.charts.helm import ChartError
from tests.support.upstream_chart import Command, Upstream


def test_a_chart_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text("name: chart\nversion: 0.1\n")

    found = read_chart_directory(tmp_path)

    assert (found.name, found.version, found.requirements) == ("chart", "0.1", [])


@pytest.mark.parametrize(
    "text",
    [
        "version: 0.1.0\n",
        "name: chart\n",
        "name: chart\nversion: 0.1.0\ndependencies: [{version: 0.2.0}]\n",
        "text\n",
        "a: [\n",
    ],
)
def test_a_chart_file_that_lacks_a_name_or_a_version_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text(text)

    with pytest.raises(ChartError, match=r"Chart\.yaml is not a valid Chart\.yaml: "):
        read_chart_directory(tmp_path)


def test_without_a_digest_the_error_names_the_command(run: Command, output: Path) -> None:
    outcome = run()
    assert outcome.code == 1
    assert "nvidia-device-plugin 0.16.1" in outcome.error
    assert "`CHART_DIGESTS=record make charts`" in outcome.error
    assert not output.exists()


def test_record_writes_the_digests_and_nothing_else(
    run: Command, upstream: Upstream, pins: Path
) -> None:
    before = pins.read_text()
    outcome = run(DIGESTS="record")
    after = pins.read_text()
    digests = [entry["sha256"] for entry in yaml.safe_load(after)["dependencies"]]
    assert digests == [
        sha256_of(upstream.archives / "nvidia-device-plugin-0.16.1.tgz"),
        sha256_of(upstream.archives / "aws-efa-k8s-device-plugin-v0.5.20.tgz"),
    ]
    assert re.sub(r"[0-9a-f]{64}", "not-recorded", after) == before
    assert f"nvidia-device-plugin: not-recorded -> {digests[0]}" in outcome.output
    assert list(pins.parent.glob(".pins*")) == []


@pytest.mark.usefixtures("recorded")
def test_recorded_digests_are_enough_for_the_next_run(run: Command) -> None:
    assert run().code == 0


@pytest.mark.usefixtures("recorded")
def test_a_changed_archive_is_refused(run: Command, upstream: Upstream, output: Path) -> None:
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    archive = upstream.archives / "nvidia-device-plugin-0.16.1.tgz"
    archive.write_bytes(archive.read_bytes() + b"\0")
    outcome = run()
    assert outcome.code == 1
    assert "nvidia-device-plugin 0.16.1: digest mismatch" in outcome.error
    assert sha256_of(archive) in outcome.error
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before


@pytest.mark.usefixtures("recorded")
def test_recording_again_shows_old_and_new(run: Command, upstream: Upstream) -> None:
    archive = upstream.archives / "nvidia-device-plugin-0.16.1.tgz"
    old = sha256_of(archive)
    archive.unlink()
    changed = upstream.archive("nvidia-device-plugin", "0.16.1")
    changed.write_bytes(changed.read_bytes() + b"\0")
    outcome = run(DIGESTS="record")
    assert f"nvidia-device-plugin: {old} -> {sha256_of(changed)}" in outcome.output

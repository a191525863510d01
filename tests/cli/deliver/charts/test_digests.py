"""Digests: recorded once on purpose, then every archive must have them."""

import re
from pathlib import Path

import pytest
import yaml

from hyperpod_cli.deliver.charts.archives import sha256_of
from tests.support.upstream_chart import Command, Upstream


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

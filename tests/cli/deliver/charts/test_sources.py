"""What a chart is packaged from: the repository, the pins, and archives of dependencies."""

import functools
import os
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.deliver.charts.archives import read_chart_directory, sha256_of
from hyperpod_cli.deliver.charts.git_source import check_out_chart
from hyperpod_cli.deliver.charts.pins import ChartSource, load_pins
from hyperpod_cli.helm.helm import ChartError
from hyperpod_cli.terminal.errors import REFUSED, OpsError
from tests.conftest import Raises
from tests.support.configs import REPOSITORY
from tests.support.upstream_chart import Command, Upstream, pin


def test_a_chart_file_is_read(tmp_path: Path) -> None:
    dependency = "{name: a, version: 1, repository: null}"
    (tmp_path / "Chart.yaml").write_text(
        f"name: chart\nversion: 0.1\nappVersion:\ndependencies: [{dependency}]\n"
    )

    found = read_chart_directory(tmp_path)

    assert (found.name, found.version, found.app_version) == ("chart", "0.1", "")
    (required,) = found.requirements
    assert (required.name, required.version, required.is_remote) == ("a", "1", False)


@pytest.mark.parametrize(
    "text",
    [
        b"version: 0.1.0\n",
        b"name: chart\n",
        b"name: [a]\nversion: 1\n",
        b"name: a\nversion: 1\ndependencies: [{version: 0.2.0}]\n",
        b"text\n",
        b"",
        b"a: [\n",
        b"\x00\xff",
    ],
)
def test_a_chart_file_that_is_not_one_is_refused_in_a_line(
    text: bytes, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "Chart.yaml").write_bytes(text)

    with pytest.raises(ChartError) as refused:
        read_chart_directory(tmp_path)
    line = str(refused.value)
    assert "\n" not in line
    assert line.replace(str(tmp_path), "FOLDER") == snapshot


def test_without_git_the_error_names_the_other_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pins: Path, raises: Raises
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with raises(ChartError):
        check_out_chart(source=load_pins(pins).chart, workspace=tmp_path)


def test_without_a_digest_the_error_names_the_command(run: Command, output: Path) -> None:
    outcome = run()
    assert outcome.code == 2
    assert "nvidia-device-plugin 0.16.1" in outcome.error
    assert "`CHART_DIGESTS=record hyperpod-cdk charts`" in outcome.error
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
    assert outcome.code == 2
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


PINS = REPOSITORY / "charts" / "pins.yaml"


def test_the_pins_of_the_repository() -> None:
    pins = load_pins(PINS)
    assert pins.chart.path == "helm_chart/HyperPodHelmChart"
    assert {entry.label for entry in pins.dependencies} == {
        "nvidia-device-plugin 0.16.1",
        "aws-efa-k8s-device-plugin 0.5.20",
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chart.git_commit", "main"),
        ("chart.path", "../elsewhere"),
        ("chart.path", "/absolute"),
        ("chart.branch", "main"),
        ("dependencies.0.version", 0.16),
        ("dependencies.0.version", "~0.16"),
        ("dependencies.0.sha256", "abc"),
        ("dependencies.0.repository", "charts"),
        ("left_out", "cert-manager"),
    ],
)
def test_a_bad_value_is_refused(key: str, value: object, tmp_path: Path) -> None:
    content: Any = yaml.safe_load(PINS.read_text())
    target = content
    *sections, last = key.split(".")
    for section in sections:
        target = target[int(section) if section.isdecimal() else section]
    target[last] = value
    file = tmp_path / "pins.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(ChartError) as error:
        load_pins(file)
    assert f"{file}: {key}: {value!r}" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "- a list",
        "",
    ],
)
def test_a_file_that_is_no_mapping_is_refused(text: str, tmp_path: Path, raises: Raises) -> None:
    file = tmp_path / "pins.yaml"
    file.write_text(text)
    with raises(ChartError):
        load_pins(file)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def repository(upstream: Upstream) -> Iterator[str]:
    handler = functools.partial(QuietHandler, directory=str(upstream.archives))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        upstream.helm("repo", "index", upstream.archives, "--url", url)
        yield url
        server.shutdown()
        thread.join()


@pytest.fixture
def network_pins(upstream: Upstream, pins: Path, repository: str) -> Path:
    dependencies = [
        pin("nvidia-device-plugin", "0.16.1", repository=repository),
        pin("aws-efa-k8s-device-plugin", "0.5.20", repository=repository),
    ]
    return upstream.pins(pins, dependencies=dependencies)


@pytest.mark.usefixtures("network_pins")
def test_the_archives_are_downloaded(run: Command, output: Path, repository: str) -> None:
    outcome = run(ARCHIVES="", DIGESTS="record")
    assert outcome.code == 0, outcome.error
    assert f"  nvidia-device-plugin 0.16.1 from {repository}" in outcome.output
    assert (output / "hyperpod-helm-chart.tgz").is_file()


@pytest.mark.usefixtures("network_pins")
def test_the_folder_and_the_network_give_the_same_bytes(run: Command, output: Path) -> None:
    run(ARCHIVES="", DIGESTS="record")
    archive = output / "hyperpod-helm-chart.tgz"
    downloaded = archive.read_bytes()
    assert run().code == 0
    assert archive.read_bytes() == downloaded


@pytest.mark.usefixtures("network_pins")
def test_a_version_that_the_repository_lacks(
    run: Command, upstream: Upstream, output: Path, repository: str
) -> None:
    (upstream.archives / "nvidia-device-plugin-0.16.1.tgz").unlink()
    upstream.helm("repo", "index", upstream.archives, "--url", repository)
    outcome = run(ARCHIVES="", DIGESTS="record")
    assert outcome.code == 2
    assert f"cannot fetch nvidia-device-plugin 0.16.1 from {repository}" in outcome.error
    assert "set CHART_ARCHIVES to it" in outcome.error
    assert not output.exists()


@pytest.mark.usefixtures("network_pins")
def test_check_reports_a_newer_version(run: Command, upstream: Upstream, repository: str) -> None:
    run(ARCHIVES="", DIGESTS="record")
    upstream.archive("nvidia-device-plugin", "0.20.0")
    upstream.helm("repo", "index", upstream.archives, "--url", repository)
    outcome = run("check", ARCHIVES="")
    assert "nvidia-device-plugin: pinned 0.16.1, newest 0.20.0" in outcome.output
    assert "aws-efa-k8s-device-plugin: pinned 0.5.20, the newest" in outcome.output


@pytest.mark.usefixtures("network_pins")
def test_check_goes_on_without_the_repository(
    run: Command, upstream: Upstream, repository: str
) -> None:
    run(ARCHIVES="", DIGESTS="record")
    (upstream.archives / "index.yaml").unlink()
    outcome = run("check", ARCHIVES="")
    assert outcome.code == 0, outcome.error
    assert f"nvidia-device-plugin: pinned 0.16.1, {repository} not reached" in outcome.output
    assert "is the newest commit" in outcome.output


def test_a_git_that_fails_is_a_refusal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\necho fatal: no space >&2; exit 128\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    source = ChartSource(git_url="https://example.com/a.git", git_commit="0" * 40, path="chart")
    with pytest.raises(OpsError) as refused:
        check_out_chart(source=source, workspace=tmp_path / "work")
    assert (refused.value.code, refused.value.lines) == (REFUSED, ("fatal: no space",))

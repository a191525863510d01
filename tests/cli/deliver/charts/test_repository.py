"""Dependencies downloaded by the real helm from a chart repository served on this machine."""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.upstream_chart import Command, Upstream, pin


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
    assert outcome.code == 1
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

"""A pipeline from its first push to a mistake that it stops, and the address of its regions."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_file
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_rehearsal.pipeline import PipelineRehearsal
from hyperpod_rehearsal.pipeline.places import RegionRouter, start_places
from hyperpod_rehearsal.pipeline.repository import Repository
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.stand_in_chart import choose_chart
from tests.support.configs import CONFIG_FOLDER
from tests.support.patience import PATIENCE_SECONDS

EXAMPLE = CONFIG_FOLDER / "pipeline" / "pipeline.yaml"


def rehearsal(path: Path, directory: Path) -> PipelineRehearsal:
    loaded = load_file(path)
    return PipelineRehearsal(
        loaded=loaded,
        config_path=path,
        chart=choose_chart(loaded.deployments[0].config),
        work_directory=directory / "work",
        checks=False,
        progress=Progress(),
    )


@pytest.mark.slow(seconds=60)
def test_pushes_are_deployed_and_mistakes_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    checks = rehearsal(EXAMPLE, tmp_path).run()

    assert [check.title for check in checks if not check.ok] == []
    assert [check.title for check in checks] == snapshot
    said = capsys.readouterr().out
    assert ".ci/run in builds" in said
    assert "get-template of the pipeline" in said
    stacks = "ml-prod-platform, ml-prod-storage, ml-prod-addons, ml-prod-hyperpod"
    assert f"prod: creates {stacks}. PERMISSIONS BROADEN. Not rehearsed: " in said
    # A node more broadens nothing, and replaces nothing.
    assert "prod: changes ml-prod-hyperpod. " in said
    assert ": ml-prod-storage. Rehearsed: " in said
    assert "cluster.name: 'ml-dev-cluster-2' " in said
    review = tmp_path / "work" / "execution-1" / "Review-prod" / "build" / "review" / "diff.txt"
    assert "ml-prod-platform: new, " in review.read_text("utf-8")


def test_what_describes_no_pipeline_is_refused(tmp_path: Path) -> None:
    path = CONFIG_FOLDER / "default.yaml"
    with pytest.raises(OpsError, match="no pipeline"):
        rehearsal(path, tmp_path).run()


def test_two_environments_in_one_region_are_refused(tmp_path: Path) -> None:
    loaded = load_file(EXAMPLE)
    dev, _ = loaded.deployments
    with (
        pytest.raises(OpsError, match="Two environments are in us-west-2"),
        ExitStack() as (started),
    ):
        start_places(replace(loaded, deployments=[dev, dev]), directory=tmp_path, started=started)


def test_what_git_refuses_is_one_line(tmp_path: Path) -> None:
    repository = Repository(path=tmp_path / "none", chart=tmp_path, shares_tools=True)
    tmp_path.joinpath("none").mkdir()
    with pytest.raises(OpsError, match=r"^git reset in .*: fatal: ") as refused:
        repository.revert()
    assert "\n" not in str(refused.value)


SCOPE = "AWS4-HMAC-SHA256 Credential=AKIA/20261122/{region}/s3/aws4_request, SignedHeaders=host"


def server(name: str, started: ExitStack) -> str:
    """Start a server that answers with its name and what it got; return its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = name.encode() + b" got " + body
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
    started.callback(found.server_close)
    started.callback(found.shutdown)
    return f"http://127.0.0.1:{found.server_port}"


@pytest.fixture
def router() -> Iterator[RegionRouter]:
    with ExitStack() as started:
        endpoints = {name: server(name, started) for name in ("us-west-2", "us-east-1")}
        yield started.enter_context(RegionRouter(endpoints))


@pytest.mark.parametrize(
    ("path", "headers", "region"),
    [
        ("/", {"Authorization": SCOPE.format(region="us-east-1")}, "us-east-1"),
        ("/", {"Authorization": SCOPE.format(region="us-west-2")}, "us-west-2"),
        ("/b?X-Amz-Credential=A%2F20261122%2Fus-east-1%2Fs3%2Faws4_request", {}, "us-east-1"),
        ("/unsigned", {}, "us-west-2"),
        ("/", {"Authorization": SCOPE.format(region="eu-west-1")}, "us-west-2"),
    ],
)
def test_a_request_goes_to_the_region_of_its_signature(
    router: RegionRouter, path: str, headers: dict[str, str], region: str
) -> None:
    body = b"x" * 200_000
    place = urlsplit(router.endpoint)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE_SECONDS)
    connection.request("POST", path, body=body, headers=headers)

    answer = connection.getresponse()
    assert answer.read() == region.encode() + b" got " + body
    assert answer.will_close
    connection.close()

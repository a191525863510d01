"""One address for the local AWS of each region."""

from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest

from rehearsal.pipeline.places import RegionRouter
from tests.support.patience import PATIENCE_SECONDS

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

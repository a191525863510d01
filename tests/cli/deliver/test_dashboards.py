"""`hyperpod-cdk dashboards`: what it writes, and what it sends to a Grafana."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import botocore.client
import pytest
import yaml

from hyperpod_cli.deliver.grafana import SECONDS_TO_LIVE, TOKEN, managed_token
from hyperpod_cli.terminal.errors import REFUSED, OpsError
from tests.conftest import Raises
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER
from tests.support.played import stubbed

SECRET, WORKSPACE = "glsa_a-secret", "g-0123456789"
P5 = CONFIG_FOLDER / "examples" / "llm-p5.yaml"


@dataclass
class Grafana:
    """A Grafana: what it was sent, and how it answers."""

    url: str = ""
    status: int = 200
    answer: str = ""
    got: list[dict[str, Any]] = field(default_factory=list)
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)


@pytest.fixture
def grafana(monkeypatch: pytest.MonkeyPatch) -> Iterator[Grafana]:
    """Have a Grafana that takes one token."""
    there = Grafana()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            sent = self._sent()
            is_there = self.path.rpartition("/")[2] in there.sources
            if is_there:
                there.sources[sent["uid"]] = sent
            self.send_response(200 if is_there else 404)
            self.end_headers()
            self.wfile.write(b"{}")

        def do_POST(self) -> None:
            sent = self._sent()
            if self.path == "/api/datasources":
                assert sent["uid"] not in there.sources
                there.sources[sent["uid"]] = sent
                sent = {"dashboard": {"uid": ""}}
            allowed = self.headers["Authorization"] == f"Bearer {SECRET}"
            if self.path != "/api/datasources":
                there.got.append({"path": self.path, **sent})
            answer = there.answer or json.dumps({"url": f"/d/{sent['dashboard']['uid']}"})
            self.send_response(there.status if allowed else 401)
            self.end_headers()
            self.wfile.write(answer.encode())

        def _sent(self) -> Any:  # noqa: ANN401 - any JSON value
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    there.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv(TOKEN, SECRET)
    yield there
    server.shutdown()
    thread.join()
    server.server_close()


def test_files_are_written_and_sent(tmp_path: Path, grafana: Grafana) -> None:
    folder = tmp_path / "new" / "dashboards"

    said = ran("dashboards", "--config", P5, "--output", folder, "--grafana", grafana.url)

    written = {path.stem: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
    assert [each["dashboard"] for each in grafana.got] == [
        written[name] for name in sorted(written)
    ]
    assert {each["path"] for each in grafana.got} == {"/api/dashboards/db"}
    assert all(each["overwrite"] for each in grafana.got)
    assert [each["name"] for each in yaml.safe_load((folder / "rules.yaml").read_text())["groups"]]
    assert (said.code, f"{grafana.url}/d/hyperpod-gpus" in said.out.splitlines()) == (0, True)
    assert SECRET not in said.out + said.err


def configured(folder: Path, observability: Mapping[str, Any]) -> Path:
    """Write a configuration with such a section."""
    document = yaml.safe_load(P5.read_text("utf-8"))
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({**document, "observability": observability}), "utf-8")
    return path


MANAGED: Mapping[str, Any] = {"prometheus": {}, "grafana": {"kind": "managed"}}
ENDPOINT = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1"


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Have a stack, and no other; change what it has before the command."""
    found: dict[str, str] = {}

    def answer(_client: object, operation: str, asked: Mapping[str, Any]) -> object:
        assert (operation, asked["StackName"].endswith("-operators")) == ("DescribeStacks", True)
        listed = [{"OutputKey": key, "OutputValue": value} for key, value in found.items()]
        return {"Stacks": [{"Outputs": listed}]}

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answer)
    return found


@pytest.mark.usefixtures("credentials")
def test_the_deployed_workspace_gets_its_data_sources_and_dashboards(
    tmp_path: Path, grafana: Grafana, outputs: dict[str, str]
) -> None:
    outputs |= {"GrafanaUrl": grafana.url, "PrometheusEndpoint": ENDPOINT}
    config = configured(tmp_path, MANAGED)

    for _ in range(2):
        options = ("--config", config, "--output", tmp_path, "--grafana", "deployed")
        assert ran("dashboards", *options).code == 0

    prometheus, cloudwatch = (grafana.sources[uid] for uid in ("prometheus", "cloudwatch"))
    assert prometheus["url"] == ENDPOINT
    assert prometheus["jsonData"]["sigV4Region"] == cloudwatch["jsonData"]["defaultRegion"]
    assert {each["path"] for each in grafana.got} == {"/api/dashboards/db"}


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize(
    ("observability", "has", "says"),
    [
        pytest.param({}, {}, "is for observability.grafana with kind: managed", id="none"),
        pytest.param(
            {**MANAGED, "grafana": {"kind": "in_cluster"}},
            {},
            "has the dashboards already",
            id="in the cluster",
        ),
        pytest.param(MANAGED, {}, "-operators is not deployed", id="not deployed"),
        pytest.param(
            MANAGED,
            {"PrometheusEndpoint": ENDPOINT},
            "GrafanaUrl",
            id="deployed before",
        ),
    ],
)
def test_a_workspace_that_is_not_deployed_is_one_line(
    *,
    observability: Mapping[str, Any],
    has: Mapping[str, str],
    says: str,
    tmp_path: Path,
    outputs: dict[str, str],
) -> None:
    outputs |= has
    config = configured(tmp_path, observability)

    code, _, err = ran(
        "dashboards", "--config", config, "--output", tmp_path, "--grafana", "deployed"
    )

    (line,) = err.splitlines()
    assert (code, says in line) == (REFUSED, True), line


@pytest.mark.parametrize(
    ("url", "status", "answer", "token", "says"),
    [
        pytest.param("", 200, "", None, "GRAFANA_TOKEN: is not set", id="no token"),
        pytest.param("", 200, "", "other", "refuses the token (401)", id="wrong token"),
        pytest.param("", 500, "", SECRET, "did not take 'HyperPod: Cost': 500", id="fault"),
        pytest.param("", 200, "<html>", SECRET, "not as a Grafana does", id="no Grafana"),
        pytest.param("http://127.0.0.1:1", 0, "", SECRET, "cannot be reached", id="nobody"),
        pytest.param("http://grafana.example.com", 0, "", SECRET, "must be an https", id="plain"),
        *(
            pytest.param(url, 0, "", SECRET, "must be an https", id=url)
            for url in ("grafana", "http://[a", "https://a b", "https://a:x", "https://a/\u00e9")
        ),
    ],
)
def test_what_a_grafana_refuses_is_told_without_the_token(
    *,
    url: str,
    status: int,
    answer: str,
    token: str | None,
    says: str,
    tmp_path: Path,
    grafana: Grafana,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grafana.status, grafana.answer = status, answer
    monkeypatch.delenv(TOKEN) if token is None else monkeypatch.setenv(TOKEN, token)

    options = ("--config", P5, "--output", tmp_path, "--grafana", url or grafana.url)
    code, out, err = ran("dashboards", *options)

    assert code == REFUSED
    (line,) = err.splitlines()
    assert says in line
    assert SECRET not in out + err
    # What is wrong with the arguments is said before anything is written.
    was_begun = url == "http://127.0.0.1:1" or (not url and token is not None)
    assert (tmp_path / "cost.json").exists() is was_begun


def test_slurm_without_a_file_system_has_nothing_to_show(tmp_path: Path) -> None:
    config = tmp_path / "slurm.yaml"
    document = yaml.safe_load((CONFIG_FOLDER / "slurm.yaml").read_text("utf-8"))
    config.write_text(yaml.safe_dump({**document, "storage": None}), "utf-8")

    said = ran("dashboards", "--config", config, "--output", tmp_path / "out")
    assert (said.code, "has no dashboards" in said.err) == (REFUSED, True)


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have some, with which nothing is sent."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")


def test_a_token_of_the_managed_grafana_is_short_lived_and_goes() -> None:
    stub = stubbed("grafana")
    name = "hyperpod-cdk-dashboards"
    asked = {"workspaceId": WORKSPACE}
    account = {"id": "7", "name": name, "grafanaRole": "ADMIN", **asked}
    stub.add_response(
        "create_workspace_service_account",
        account,
        {"name": name, "grafanaRole": "ADMIN", **asked},
    )
    stub.add_response(
        "create_workspace_service_account_token",
        {"serviceAccountToken": {"id": "1", "name": name, "key": SECRET}, **asked}
        | {"serviceAccountId": "7"},
        {"name": name, "secondsToLive": SECONDS_TO_LIVE, "serviceAccountId": "7", **asked},
    )
    gone = {"serviceAccountId": "7", **asked}
    stub.add_response("delete_workspace_service_account", gone, gone)

    with (
        stub,
        pytest.raises(OpsError, match="broken"),
        managed_token(stub.client, WORKSPACE, role="ADMIN") as token,
    ):
        assert token == SECRET
        raise OpsError("broken")
    stub.assert_no_pending_responses()
    assert SECONDS_TO_LIVE <= 3600


@pytest.mark.parametrize(
    "error",
    [
        "ConflictException",
        "AccessDeniedException",
    ],
)
def test_a_token_that_aws_refuses(error: str, raises: Raises) -> None:
    stub = stubbed("grafana")
    stub.add_client_error("create_workspace_service_account", error)

    with stub, raises(OpsError), managed_token(stub.client, WORKSPACE):
        pytest.fail("there is no token")

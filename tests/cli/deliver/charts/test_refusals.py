"""Everything that cannot be packaged is refused with one line, and nothing is written."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.upstream_chart import Command, Upstream, pin, remote

NVIDIA, EFA = pin("nvidia-device-plugin", "0.16.1"), pin("aws-efa-k8s-device-plugin", "0.5.20")


@pytest.fixture
def refused(run: Command, output: Path) -> Callable[..., str]:
    def attempt(**variables: str) -> str:
        outcome = run(**{"DIGESTS": "record", **variables})
        assert outcome.code == 1
        assert outcome.error.startswith("error: ")
        assert outcome.error.count("\n") == 1
        assert not output.exists()
        return outcome.error

    return attempt


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_repository_out_of_reach(refused: Callable[..., str]) -> None:
    error = refused(GIT_URL=f"http://someone:secret@127.0.0.1:{closed_port()}/charts.git")
    assert "cannot reach http://127.0.0.1:" in error
    assert "set CHART_GIT_URL to a mirror or a local clone" in error
    assert "secret" not in error


def test_a_commit_that_is_not_there(refused: Callable[..., str], upstream: Upstream) -> None:
    error = refused(GIT_COMMIT="0" * 40)
    assert f"{upstream.repository} has no commit {'0' * 40}" in error


def test_a_local_path_without_a_repository(refused: Callable[..., str], tmp_path: Path) -> None:
    assert f"cannot reach {tmp_path}" in refused(GIT_URL=str(tmp_path))


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"GIT_COMMIT": "main"}, "CHART_GIT_COMMIT is 'main': give all 40 hexadecimal digits"),
        ({"GIT_COMMIT": "011ca92"}, "CHART_GIT_COMMIT is '011ca92'"),
        ({"DIGESTS": "yes"}, "CHART_DIGESTS is 'yes': only `record` is allowed"),
        (
            {"ARCHIVES": "/nowhere/at/all"},
            "CHART_ARCHIVES is '/nowhere/at/all', which is not a folder",
        ),
    ],
)
def test_a_variable_that_is_wrong(
    variables: dict[str, str], message: str, refused: Callable[..., str]
) -> None:
    assert message in refused(**variables)


def test_an_archive_that_is_not_in_the_folder(
    refused: Callable[..., str], upstream: Upstream
) -> None:
    (upstream.archives / "nvidia-device-plugin-0.16.1.tgz").unlink()
    error = refused()
    assert f"nvidia-device-plugin 0.16.1: CHART_ARCHIVES={upstream.archives} must contain" in error
    assert "found none; fetch it from https://charts.invalid" in error


def test_two_archives_of_one_chart(refused: Callable[..., str], upstream: Upstream) -> None:
    archive = upstream.archives / "nvidia-device-plugin-0.16.1.tgz"
    (upstream.archives / "copy.tgz").write_bytes(archive.read_bytes())
    assert "found copy.tgz, nvidia-device-plugin-0.16.1.tgz" in refused()


@pytest.mark.parametrize("content", [b"", b"not an archive"])
def test_a_file_that_is_no_chart(
    content: bytes, refused: Callable[..., str], upstream: Upstream
) -> None:
    (upstream.archives / "a.tgz").write_bytes(content)
    assert "a.tgz is not a packaged chart" in refused()


def test_no_chart_at_the_path(refused: Callable[..., str], upstream: Upstream, pins: Path) -> None:
    source = {"git_url": str(upstream.repository), "git_commit": upstream.commit_id}
    upstream.pins(pins, chart={**source, "path": "elsewhere"})
    assert "has no elsewhere at commit" in refused()
    upstream.pins(pins, chart={**source, "path": "helm_chart"})
    assert "it has no Chart.yaml" in refused()


@pytest.mark.parametrize(
    "changes",
    [
        {"left_out": []},
        {"dependencies": [NVIDIA, EFA, pin("keda", "2.17.1")]},
        {"dependencies": [pin("nvidia-device-plugin", "0.17.0"), EFA]},
        {"dependencies": [NVIDIA, EFA, pin("keda", "2.17.1", parent="nobody")]},
        {"left_out": ["cert-manager", "nvidia-device-plugin"]},
    ],
)
def test_pins_that_do_not_fit_the_chart(
    changes: dict[str, object],
    refused: Callable[..., str],
    upstream: Upstream,
    pins: Path,
    snapshot: SnapshotAssertion,
) -> None:
    upstream.pins(pins, **changes)
    assert refused() == snapshot


def test_a_component_that_is_on_but_incomplete(
    refused: Callable[..., str], upstream: Upstream, pins: Path
) -> None:
    upstream.values["gpu-operator"]["enabled"] = True
    upstream.commit()
    upstream.pins(pins)
    error = refused()
    assert "the packaged chart does not render with its defaults" in error
    assert "gpu-operator needs the chart gpu-operator v26.3.1" in error


def test_a_new_dependency_upstream(
    refused: Callable[..., str], upstream: Upstream, pins: Path
) -> None:
    upstream.requirements.append(remote("kueue", "0.9.0", "https://kueue.invalid", "kueue.enabled"))
    upstream.commit()
    upstream.pins(pins)
    assert "requires kueue 0.9.0 from https://kueue.invalid" in refused()


def test_regions_that_can_no_longer_be_read(
    refused: Callable[..., str], upstream: Upstream, pins: Path
) -> None:
    agent = upstream.chart / "charts/health-monitoring-agent/templates"
    (agent / "_helpers.tpl").write_text('{{ define "agent.image" }}one{{ end }}')
    upstream.commit()
    upstream.pins(pins)
    assert "no longer lists regions and registry accounts" in refused()


def test_a_chart_that_has_a_file_of_the_value_checks_name(
    refused: Callable[..., str], upstream: Upstream, pins: Path
) -> None:
    (upstream.chart / "packaging.json").write_text("{}")
    upstream.commit()
    upstream.pins(pins)
    assert "already has a file packaging.json" in refused()

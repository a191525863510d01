"""`hyperpod-cdk charts` where it is needed, and `hyperpod-cdk charts-check`."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.deliver.charts.package import ARCHIVE_NAME
from tests.cli.deliver.charts.conftest import masked
from tests.support.commands import Said, ran
from tests.support.configs import REPOSITORY
from tests.support.upstream_chart import Command, Upstream, remote

CONFIG = """\
name: ml
cluster:
  instance_groups:
    - {name: worker, instance_type: ml.g5.xlarge, instance_count: 1}
"""


def _ran(folder: Path, config: str) -> Said:
    (folder / "mine.yaml").write_text(config)
    # Pins that do not exist: packaging would fail.
    options: list[str | Path] = ["--pins", folder / "pins.yaml", "--output", folder]
    return ran("charts", *options, "--if-needed-by", folder / "mine.yaml")


def test_not_for_a_chart_of_ones_own(tmp_path: Path, chart: Path) -> None:
    assert _ran(tmp_path, f"{CONFIG}helm: {{chart: {chart}}}\n").code == 0


def test_not_in_the_shell_of_a_rehearsal(
    tmp_path: Path, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REHEARSAL_CHART", str(chart))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert _ran(tmp_path, CONFIG).code == 0


CHART, ENDPOINT = "REHEARSAL_CHART", "AWS_ENDPOINT_URL"
STAND_IN = str(REPOSITORY / "charts" / "fsx-storage")


@pytest.mark.parametrize(
    ("variables", "more"),
    [
        ({CHART: STAND_IN, ENDPOINT: ""}, ""),
        ({CHART: STAND_IN, ENDPOINT: "https://cloudformation.us-west-2.amazonaws.com"}, ""),
        ({CHART: "/nowhere/gone"}, ""),
        ({}, ""),
        ({}, "nmae: x\n"),
    ],
    ids=["no endpoint", "endpoint of AWS", "stand-in is gone", "no package", "unknown key"],
)
def test_what_is_refused_is_a_line(
    variables: Mapping[str, str],
    more: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    code, _, error = _ran(tmp_path, f"{CONFIG}{more}")
    assert (code, error.count("\n")) == (2, 1)
    assert masked(error, tmp_path) == snapshot


@pytest.mark.usefixtures("recorded")
def test_only_the_pinned_package_is_kept(run: Command, output: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)
    options = ("package", "--if-needed-by", str(tmp_path / "mine.yaml"))
    packaged = (output / ARCHIVE_NAME).read_bytes()
    assert run(*options, GIT_URL="/nowhere").code == 0

    (output / ARCHIVE_NAME).write_bytes(b"newer than the pins, and of someone else")

    assert run(*options).code == 0
    assert (output / ARCHIVE_NAME).read_bytes() == packaged


_CONFIG = f"{CONFIG}region: us-west-2\n"


def _config(folder: Path, *, components: str) -> str:
    path = folder / "config.yaml"
    path.write_text(f"{_CONFIG}helm: {{namespace: team, components: {components}}}\n")
    return str(path)


@pytest.mark.usefixtures("recorded")
def test_nothing_newer(run: Command, upstream: Upstream, output: Path) -> None:
    outcome = run("check")
    assert outcome.code == 0
    assert f"chart: {upstream.commit_id} is the newest commit" in outcome.output
    assert not (output / "upstream.diff").exists()


@pytest.mark.usefixtures("recorded")
def test_objects_and_images_that_would_change(
    run: Command, upstream: Upstream, output: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    pinned = upstream.commit_id
    packaged = (output / ARCHIVE_NAME).read_bytes()
    upstream.set_agent_tag("2.0")
    agent = upstream.chart / "charts/health-monitoring-agent/templates"
    settings = "kind: ConfigMap\nmetadata: {name: agent, namespace: kube-system}\n"
    (agent / "settings.yaml").write_text(f"apiVersion: v1\n{settings}")
    # The default configuration does not install it, whatever the chart's own default is.
    upstream.values["namespaced-role-and-bindings"]["enabled"] = True
    newest = upstream.commit()
    outcome = run("check")
    assert outcome.code == 0, outcome.error
    assert masked(outcome.output, tmp_path, pinned=pinned, newest=newest) == snapshot
    assert (output / "upstream.diff").read_text() == snapshot
    assert (output / ARCHIVE_NAME).read_bytes() == packaged


@pytest.mark.usefixtures("recorded")
def test_what_a_configuration_installs_is_compared(
    run: Command, upstream: Upstream, tmp_path: Path
) -> None:
    roles = upstream.chart / "charts/namespaced-role-and-bindings/templates/object.yaml"
    roles.write_text(f"{roles.read_text()}data: {{verbs: list}}\n")
    upstream.commit()
    same, changed = (
        run("check", "--config", _config(tmp_path, components=components)).output
        for components in ("{}", "{namespaced_role_bindings: true}")
    )
    assert "object changes: ConfigMap team/roles" in set(changed.splitlines()) - {
        *same.splitlines()
    }


def without_the_region(upstream: Upstream, _: Path) -> None:
    helpers = upstream.chart / "charts/health-monitoring-agent/templates/_helpers.tpl"
    helpers.write_text(helpers.read_text().replace("us-west-2", "us-west-9"))
    upstream.commit()


def newly_required(upstream: Upstream, _: Path) -> None:
    upstream.requirements.append(remote("kueue", "0.9.0", "https://kueue.invalid", "kueue.enabled"))
    upstream.commit()


UNCOMPARED: Mapping[str, Callable[[Upstream, Path], Mapping[str, str] | None]] = {
    "an agent without an image for the region": without_the_region,
    "a new dependency": newly_required,
    "a repository out of reach": lambda upstream, _: shutil.rmtree(upstream.repository),
    "no package": lambda _, folder: shutil.rmtree(folder / "build"),
    "a package of another commit": lambda upstream, _: {"GIT_COMMIT": upstream.commit()},
}


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("spoil", UNCOMPARED.values(), ids=UNCOMPARED)
def test_what_cannot_be_compared_is_a_failure(
    spoil: Callable[[Upstream, Path], Mapping[str, str] | None],
    run: Command,
    upstream: Upstream,
    tmp_path: Path,
    snapshot: SnapshotAssertion,
) -> None:
    pinned = upstream.commit_id
    outcome = run("check", **(spoil(upstream, tmp_path) or {}))
    assert outcome.code == 2
    error = masked(outcome.error, tmp_path, pinned=pinned, newest=upstream.commit_id)
    assert error == snapshot


@pytest.mark.usefixtures("recorded")
def test_a_chart_of_ones_own_is_not_compared(run: Command, tmp_path: Path, chart: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(f"{_CONFIG}helm: {{chart: {chart}}}\n")
    outcome = run("check", "--config", str(config))
    assert outcome.code == 2
    assert f"helm.chart names {chart}" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_dependency_that_moved_upstream_is_followed(
    run: Command, upstream: Upstream, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    pinned = upstream.commit_id
    upstream.requirements[1]["version"] = "0.17.0"
    newest = upstream.commit()
    upstream.archive("nvidia-device-plugin", "0.17.0")
    assert masked(run("check").output, tmp_path, pinned=pinned, newest=newest) == snapshot

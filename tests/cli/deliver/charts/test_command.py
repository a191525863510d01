"""`hyperpod-cdk charts` where it is needed, and `hyperpod-cdk charts-check`."""

import shutil
from pathlib import Path

import pytest

from hyperpod_cli.deliver.charts.package import ARCHIVE_NAME
from tests.support.commands import Said, ran
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


@pytest.mark.parametrize("endpoint", ["", "https://cloudformation.us-west-2.amazonaws.com"])
def test_a_stand_in_is_for_the_local_aws_alone(
    tmp_path: Path,
    chart: Path,
    endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REHEARSAL_CHART", str(chart))
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    said = _ran(tmp_path, CONFIG)
    assert (said.code, "is for a rehearsal's AWS" in said.err) == (2, True)


def test_a_stand_in_that_is_gone_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REHEARSAL_CHART", str(tmp_path / "gone"))
    code, _, said = _ran(tmp_path, CONFIG)
    assert code == 2
    assert said.startswith(f"REHEARSAL_CHART: {tmp_path}/gone does not exist; ")


@pytest.mark.usefixtures("recorded")
def test_only_the_pinned_package_is_kept(run: Command, output: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(CONFIG)
    options = ("package", "--if-needed-by", str(tmp_path / "mine.yaml"))
    packaged = (output / ARCHIVE_NAME).read_bytes()
    assert run(*options, GIT_URL="/nowhere").code == 0

    (output / ARCHIVE_NAME).write_bytes(b"newer than the pins, and of someone else")

    assert run(*options).code == 0
    assert (output / ARCHIVE_NAME).read_bytes() == packaged


def test_packaged_when_it_is_missing(tmp_path: Path) -> None:
    assert _ran(tmp_path, CONFIG).code == 2


def test_a_wrong_configuration_is_reported_first(tmp_path: Path) -> None:
    said = _ran(tmp_path, f"{CONFIG}nmae: x\n")
    assert (said.code, "'nmae' is not a key here; did you mean name?" in said.err) == (2, True)


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
    run: Command, upstream: Upstream, output: Path
) -> None:
    pinned = upstream.commit_id
    packaged = (output / "hyperpod-helm-chart.tgz").read_bytes()
    upstream.set_agent_tag("2.0")
    agent = upstream.chart / "charts/health-monitoring-agent/templates"
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: agent, namespace: kube-system}\n"
    (agent / "settings.yaml").write_text(settings)
    # The default configuration does not install it, whatever the chart's own default is.
    upstream.values["namespaced-role-and-bindings"]["enabled"] = True
    newest = upstream.commit()
    outcome = run("check")
    assert outcome.code == 0, outcome.error
    lines = outcome.output.splitlines()
    assert f"chart: pinned {pinned}, newest {newest}" in lines
    assert "object changes: DaemonSet aws-hyperpod/health-monitoring-agent" in lines
    assert [line for line in lines if line.startswith("object added: ")] == [
        "object added: ConfigMap kube-system/agent"
    ]
    assert "image removed: 444455556666.dkr/agent:1.0" in lines
    assert "image added: 444455556666.dkr/agent:2.0" in lines
    diff = (output / "upstream.diff").read_text()
    assert "-      - image: 444455556666.dkr/agent:1.0" in diff
    assert "+      - image: 444455556666.dkr/agent:2.0" in diff
    assert (output / "hyperpod-helm-chart.tgz").read_bytes() == packaged


@pytest.mark.usefixtures("recorded")
def test_what_a_configuration_installs_is_compared(
    run: Command, upstream: Upstream, tmp_path: Path
) -> None:
    roles = upstream.chart / "charts/namespaced-role-and-bindings/templates/object.yaml"
    roles.write_text(f"{roles.read_text()}data: {{verbs: list}}\n")
    upstream.commit()
    changes = "object changes: ConfigMap team/roles"

    outcome = run("check", "--config", _config(tmp_path, components="{}"))
    assert "the rendered manifests are the same" in outcome.output, outcome.error
    outcome = run(
        "check", "--config", _config(tmp_path, components="{namespaced_role_bindings: true}")
    )
    assert (outcome.code, changes in outcome.output.splitlines()) == (0, True), outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_region_that_the_newest_commit_has_no_image_for_is_a_failure(
    run: Command, upstream: Upstream
) -> None:
    helpers = upstream.chart / "charts/health-monitoring-agent/templates/_helpers.tpl"
    helpers.write_text(helpers.read_text().replace("us-west-2", "us-west-9"))
    upstream.commit()
    outcome = run("check")
    assert outcome.code == 2
    assert "the configuration does not fit the chart" in outcome.error
    assert "region: 'us-west-2' has no image of HyperPod's health monitoring agent" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_chart_of_ones_own_is_not_compared(run: Command, tmp_path: Path, chart: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(f"{_CONFIG}helm: {{chart: {chart}}}\n")
    outcome = run("check", "--config", str(config))
    assert outcome.code == 2
    assert f"helm.chart names {chart}" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_dependency_that_moved_upstream_is_followed(run: Command, upstream: Upstream) -> None:
    upstream.requirements[1]["version"] = "0.17.0"
    upstream.commit()
    upstream.archive("nvidia-device-plugin", "0.17.0")
    outcome = run("check")
    assert "  nvidia-device-plugin 0.17.0 from" in outcome.output
    assert "the rendered manifests are the same" in outcome.output


@pytest.mark.usefixtures("recorded")
def test_a_newest_commit_that_cannot_be_packaged_is_a_failure(
    run: Command, upstream: Upstream
) -> None:
    upstream.requirements.append(remote("kueue", "0.9.0", "https://kueue.invalid", "kueue.enabled"))
    upstream.commit()
    outcome = run("check")
    assert outcome.code == 2
    assert "the chart requires kueue 0.9.0" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_repository_out_of_reach_is_a_failure(run: Command, upstream: Upstream) -> None:
    shutil.rmtree(upstream.repository)
    outcome = run("check")
    assert outcome.code == 2
    assert f"cannot reach {upstream.repository}" in outcome.error


def test_without_a_packaged_chart_there_is_nothing_to_compare(run: Command) -> None:
    outcome = run("check")
    assert outcome.code == 2
    assert "run `hyperpod-cdk charts` first" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_package_of_another_commit_is_not_compared(run: Command, upstream: Upstream) -> None:
    outcome = run("check", GIT_COMMIT=upstream.commit())
    assert outcome.code == 2
    assert "is of another commit: run `hyperpod-cdk charts` first" in outcome.error

"""`make charts-check`: what the newest commit upstream would change in the cluster."""

import shutil
from pathlib import Path

import pytest

from tests.support.upstream_chart import Command, Upstream, remote

_CONFIG = """\
name: ml
region: us-west-2
cluster:
  instance_groups:
    - {name: worker, instance_type: ml.g5.xlarge, instance_count: 1}
"""


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
    assert outcome.code == 1
    assert "error: the configuration does not fit the chart" in outcome.error
    assert "region: 'us-west-2' has no image of HyperPod's health monitoring agent" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_chart_of_ones_own_is_not_compared(run: Command, tmp_path: Path, chart: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(f"{_CONFIG}helm: {{chart: {chart}}}\n")
    outcome = run("check", "--config", str(config))
    assert outcome.code == 1
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
    assert outcome.code == 1
    assert "error: the chart requires kueue 0.9.0" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_repository_out_of_reach_is_a_failure(run: Command, upstream: Upstream) -> None:
    shutil.rmtree(upstream.repository)
    outcome = run("check")
    assert outcome.code == 1
    assert f"error: cannot reach {upstream.repository}" in outcome.error


def test_without_a_packaged_chart_there_is_nothing_to_compare(run: Command) -> None:
    outcome = run("check")
    assert outcome.code == 1
    assert "run `make charts` first" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_package_of_another_commit_is_not_compared(run: Command, upstream: Upstream) -> None:
    outcome = run("check", GIT_COMMIT=upstream.commit())
    assert outcome.code == 1
    assert "is of another commit: run `make charts` first" in outcome.error

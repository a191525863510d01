"""`make charts-check`: what the newest commit upstream would change in the cluster."""

import shutil
from pathlib import Path

import pytest

from tests.support.upstream_chart import Command, Upstream, remote


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
    upstream.values["namespaced-role-and-bindings"]["enabled"] = True
    newest = upstream.commit()
    outcome = run("check")
    assert outcome.code == 0, outcome.error
    lines = outcome.output.splitlines()
    assert f"chart: pinned {pinned}, newest {newest}" in lines
    assert "object changes: DaemonSet aws-hyperpod/health-monitoring-agent" in lines
    assert "object added: ConfigMap kube-system/roles" in lines
    assert "image removed: 111122223333.dkr/agent:1.0" in lines
    assert "image added: 111122223333.dkr/agent:2.0" in lines
    diff = (output / "upstream.diff").read_text()
    assert "-      - image: 111122223333.dkr/agent:1.0" in diff
    assert "+      - image: 111122223333.dkr/agent:2.0" in diff
    assert (output / "hyperpod-helm-chart.tgz").read_bytes() == packaged


@pytest.mark.usefixtures("recorded")
def test_a_dependency_that_moved_upstream_is_followed(run: Command, upstream: Upstream) -> None:
    upstream.requirements[1]["version"] = "0.17.0"
    upstream.commit()
    upstream.archive("nvidia-device-plugin", "0.17.0")
    outcome = run("check")
    assert "  nvidia-device-plugin 0.17.0 from" in outcome.output
    assert "the rendered manifests are the same" in outcome.output


@pytest.mark.usefixtures("recorded")
def test_a_newest_commit_that_cannot_be_packaged_is_reported(
    run: Command, upstream: Upstream
) -> None:
    upstream.requirements.append(remote("kueue", "0.9.0", "https://kueue.invalid", "kueue.enabled"))
    upstream.commit()
    outcome = run("check")
    assert outcome.code == 0
    assert "chart: not compared: the chart requires kueue 0.9.0" in outcome.output


@pytest.mark.usefixtures("recorded")
def test_a_repository_out_of_reach_is_reported(run: Command, upstream: Upstream) -> None:
    shutil.rmtree(upstream.repository)
    outcome = run("check")
    assert outcome.code == 0
    assert f"chart: not compared: cannot reach {upstream.repository}" in outcome.output


def test_without_a_packaged_chart_there_is_nothing_to_compare(run: Command) -> None:
    outcome = run("check")
    assert outcome.code == 1
    assert "run `make charts` first" in outcome.error


@pytest.mark.usefixtures("recorded")
def test_a_package_of_another_commit_is_not_compared(run: Command, upstream: Upstream) -> None:
    outcome = run("check", GIT_COMMIT=upstream.commit())
    assert outcome.code == 1
    assert "is of another commit: run `make charts` first" in outcome.error

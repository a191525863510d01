"""`make charts`: one archive, the same bytes every time, and where everything in it came from."""

import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cli.deliver.charts.archives import sha256_of
from hyperpod_cli.deliver.charts.manifest import follow_registry
from tests.support.upstream_chart import PATH, Command, Outcome, Upstream, pin, read_json

ARCHIVE = "hyperpod-helm-chart.tgz"
PROVENANCE = "hyperpod-helm-chart.provenance.json"


def names(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        return tar.getnames()


def render(upstream: Upstream, archive: Path, **values: str) -> list[dict[str, Any]]:
    settings = ",".join(f"{key}={value}" for key, value in values.items())
    done = upstream.helm("template", "x", archive, "--set", f"global.region=us-west-2,{settings}")
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.mark.usefixtures("recorded")
def test_the_package_holds_the_chart_and_its_dependencies(upstream: Upstream, output: Path) -> None:
    assert sorted(path.name for path in output.iterdir()) == sorted([ARCHIVE, PROVENANCE])
    rendered = {document["metadata"]["name"] for document in render(upstream, output / ARCHIVE)}
    assert rendered == {
        "nvidia-device-plugin",
        "aws-efa-k8s-device-plugin",
        "health-monitoring-agent",
    }


@pytest.mark.usefixtures("recorded")
def test_the_stale_archive_beside_the_agent_is_dropped(output: Path) -> None:
    assert not [name for name in names(output / ARCHIVE) if name.endswith(".tgz")]
    provenance = read_json(output / PROVENANCE)
    assert provenance["dropped"] == ["charts/health-monitoring-agent-0.1.0.tgz"]
    assert provenance["rendered"]["images"] == ["111122223333.dkr/agent:1.0"]


@pytest.mark.usefixtures("recorded")
def test_the_same_inputs_give_the_same_bytes(
    run: Command,
    upstream: Upstream,
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = {path.name: path.read_bytes() for path in output.iterdir()}
    # Another machine: other times and modes of files, time zone, mask, file names of the archives.
    for archive in upstream.archives.iterdir():
        archive.rename(archive.with_name(f"mirror-of-{archive.name}"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    mask = os.umask(0o077)
    try:
        assert run().code == 0
    finally:
        os.umask(mask)
    assert {path.name: path.read_bytes() for path in output.iterdir()} == first


@pytest.mark.usefixtures("recorded")
def test_provenance_says_where_everything_came_from(upstream: Upstream, output: Path) -> None:
    provenance = read_json(output / PROVENANCE)
    assert provenance["package"] == {
        "file": ARCHIVE,
        "sha256": sha256_of(output / ARCHIVE),
        "bytes": (output / ARCHIVE).stat().st_size,
    }
    assert provenance["chart"]["name"] == "hyperpod-helm-chart"
    assert provenance["source"] == {
        "git_url": str(upstream.repository),
        "git_commit": upstream.commit_id,
        "path": PATH,
    }
    digests = {entry["name"]: entry["sha256"] for entry in provenance["dependencies"]}
    assert digests == {
        "nvidia-device-plugin": sha256_of(upstream.archives / "nvidia-device-plugin-0.16.1.tgz"),
        "aws-efa-k8s-device-plugin": sha256_of(
            upstream.archives / "aws-efa-k8s-device-plugin-v0.5.20.tgz"
        ),
    }
    assert provenance["helm_version"].startswith("v4.")
    assert provenance["left_out"] == ["cert-manager"]
    assert provenance["health_monitoring_agent_regions"] == ["us-east-1", "us-west-2"]
    assert "DaemonSet aws-hyperpod/health-monitoring-agent" in provenance["rendered"]["objects"]


def test_progress_is_shown(recorded: Outcome, upstream: Upstream) -> None:
    lines = recorded.output.splitlines()
    assert lines[0] == f"[1/4] chart {PATH} of {upstream.repository} at {upstream.commit_id}"
    assert f"  nvidia-device-plugin 0.16.1 from {upstream.archives}" in lines
    assert "3 objects, 1 images" in lines[-1]


@pytest.mark.usefixtures("recorded")
def test_the_environment_overrides_url_and_commit(
    run: Command, upstream: Upstream, output: Path, tmp_path: Path
) -> None:
    upstream.set_agent_tag("2.0")
    newer = upstream.commit()
    shutil.move(upstream.repository, tmp_path / "elsewhere")
    outcome = run(GIT_URL=str(tmp_path / "elsewhere"), GIT_COMMIT=newer)
    assert outcome.code == 0, outcome.error
    provenance = read_json(output / PROVENANCE)
    assert provenance["source"]["git_commit"] == newer
    assert provenance["rendered"]["images"] == ["111122223333.dkr/agent:2.0"]


def test_a_vendored_nested_chart_can_be_switched_on(
    run: Command, upstream: Upstream, pins: Path, output: Path
) -> None:
    upstream.archive("gpu-operator", "v26.3.1")
    upstream.pins(
        pins,
        dependencies=[
            pin("nvidia-device-plugin", "0.16.1"),
            pin("aws-efa-k8s-device-plugin", "0.5.20"),
            pin("gpu-operator", "v26.3.1", parent="gpu-operator"),
        ],
    )
    assert run(DIGESTS="record").code == 0
    rendered = render(upstream, output / ARCHIVE, **{"gpu-operator.enabled": "true"})
    assert "gpu-operator" in {document["metadata"]["name"] for document in rendered}


def test_images_that_a_template_names_follow_the_registry_of_the_values(tmp_path: Path) -> None:
    templates = tmp_path / "charts" / "plugin" / "templates"
    templates.mkdir(parents=True)
    names = {
        "a": "- image: public.ecr.aws/neuron/plugin:2.19.16.0",
        "b": 'image: "{{ .Values.i }}"',
    }
    names["c"] = "image:"  # a property in a definition
    for name, line in names.items():
        (templates / f"{name}.yaml").write_text(f"kind: A\n  {line}\n")
    (tmp_path / "values.yaml").write_text("image: nginx\n")

    assert follow_registry(tmp_path) == ["charts/plugin/templates/a.yaml"]
    assert (templates / "a.yaml").read_text() == (
        'kind: A\n  - image: "{{ with (.Values.global | default dict).imageRegistry }}{{ . }}/'
        'neuron/plugin:2.19.16.0{{ else }}public.ecr.aws/neuron/plugin:2.19.16.0{{ end }}"\n'
    )

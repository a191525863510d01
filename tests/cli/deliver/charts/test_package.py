"""The packaged chart: what is in it, where it comes from, and the values that it refuses."""

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, cast

import boto3
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.pipeline.section import ChartArchiveConfig
from hyperpod_cli.deliver.charts.archives import sha256_of
from hyperpod_cli.deliver.charts.manifest import follow_registry
from hyperpod_cli.deliver.charts.package import fetch
from hyperpod_cli.helm.helm import ChartError
from tests.conftest import Raises
from tests.support.commands import run
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error
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


CONTENT = b"a packaged chart"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def bucket(content: bytes | Exception = CONTENT) -> Played:
    """Return a session whose S3 has one object, or refuses."""
    if isinstance(content, Exception):
        return Played(get_object=content)
    return Played(get_object=lambda **_: {"Body": io.BytesIO(content)})


def fetched(session: Played, output: Path, *, sha256: str = DIGEST) -> list[str]:
    chart = ChartArchiveConfig(bucket="charts", key="hyperpod.tgz", sha256=sha256)
    with redirect_stdout(io.StringIO()) as said:
        fetch(chart, session=cast("boto3.Session", session), output=output)
    return said.getvalue().splitlines()


def test_it_is_written_where_the_app_looks_for_it(tmp_path: Path) -> None:
    output = tmp_path / "charts"

    (line,) = fetched(bucket(), output)

    assert (output / "hyperpod-helm-chart.tgz").read_bytes() == CONTENT
    assert "from s3://charts/hyperpod.tgz" in line


def test_what_is_there_is_not_read_again(tmp_path: Path) -> None:
    session = bucket()

    fetched(session, tmp_path)
    fetched(session, tmp_path)

    assert session.calls == [("get_object", {"Bucket": "charts", "Key": "hyperpod.tgz"})]


def test_another_file_is_refused_and_not_written(tmp_path: Path, raises: Raises) -> None:
    with raises(ChartError):
        fetched(bucket(), tmp_path, sha256="0" * 64)

    assert list(tmp_path.iterdir()) == []


def test_a_bucket_that_may_not_be_read_is_named(tmp_path: Path, raises: Raises) -> None:
    with raises(ChartError):
        fetched(bucket(client_error("AccessDenied", "GetObject")), tmp_path)


@pytest.fixture(scope="module")
def archive(upstream_template: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(upstream_template, tmp_path_factory.mktemp("value-checks"))


def packaged(upstream: Upstream, directory: Path) -> Path:
    pins = upstream.pins(directory / "pins.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHART_ARCHIVES", str(upstream.archives))
        patch.setenv("CHART_DIGESTS", "record")
        assert run("charts", "--pins", pins, "--output", directory) == 0
    return directory / "hyperpod-helm-chart.tgz"


@pytest.mark.parametrize(
    "values",
    [
        "",
        "global.region=mars-1",
        "global.region=us-west-2,health-monitoring-agent.region=mars-1",
        "global.region=us-west-2,gpu-operator.enabled=true",
        "global.region=us-west-2,cert-manager.enabled=true",
        "global.region=us-west-2,namespaced-role-and-bindings.enable=true",
    ],
)
def test_refused(
    values: str, archive: Path, upstream_template: Upstream, snapshot: SnapshotAssertion
) -> None:
    done = upstream_template.helm("template", "x", archive, "--set", values)
    assert done.returncode != 0
    assert done.stderr.partition("): ")[2].splitlines()[0] == snapshot


@pytest.fixture(scope="module")
def old_archive(upstream_template: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a package of a commit whose own values have the mistake.

    As in those that AWS's CloudFormation and Terraform templates pin, f571859 and 0e32919.
    """
    directory = tmp_path_factory.mktemp("old")
    upstream = Upstream(directory / "made", template=upstream_template)
    upstream.values["namespaced-role-and-bindings"] = {"enable": False}
    upstream.commit()
    return packaged(upstream, directory)


@pytest.mark.parametrize("values", ["", ",namespaced-role-and-bindings.enabled=true"])
def test_upstreams_own_default_is_not_judged(
    values: str, old_archive: Path, upstream_template: Upstream
) -> None:
    region = "global.region=us-west-2"
    done = upstream_template.helm("template", "x", old_archive, "--set", f"{region}{values}")
    assert done.returncode == 0, done.stderr


def test_the_same_key_set_by_a_user_is(old_archive: Path, upstream_template: Upstream) -> None:
    values = "global.region=us-west-2,namespaced-role-and-bindings.enable=true"
    done = upstream_template.helm("template", "x", old_archive, "--set", values)
    assert "write namespaced-role-and-bindings.enabled" in done.stderr


@pytest.mark.parametrize(
    "values",
    [
        "global.region=us-west-2",
        "health-monitoring-agent.region=us-east-1",
        "health-monitoring-agent.hmaimage=registry.example/agent:1",
        "health-monitoring-agent.enabled=false",
        "global.region=us-west-2,namespaced-role-and-bindings.enabled=true",
        "global.region=us-west-2,gpu-operator.enabled=true,gpu-operator.gpu-operator.enabled=false",
    ],
)
def test_accepted(values: str, archive: Path, upstream_template: Upstream) -> None:
    done = upstream_template.helm("template", "x", archive, "--set", values)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("recorded")
def test_a_package_that_is_handed_over_is_checked_and_put_where_deploy_looks(
    run: Command, output: Path, tmp_path: Path
) -> None:
    given = shutil.copytree(output, tmp_path / "given")
    shutil.rmtree(output)

    taken = run("package", "--from", str(given / ARCHIVE), GIT_URL="/nowhere")

    assert taken.code == 0, taken.error
    for name in (ARCHIVE, PROVENANCE):
        assert (output / name).read_bytes() == (given / name).read_bytes()


def repin(file: Path, digest: str) -> None:
    content = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(content | {"package_sha256": digest}))


def rewrite(given: Path, *, sha256: str) -> None:
    described = read_json(given / PROVENANCE)
    described["package"]["sha256"] = sha256
    (given / PROVENANCE).write_text(json.dumps(described))


def repack(given: Path) -> None:
    """Hand over another package, with a provenance that vouches for it."""
    with tarfile.open(given / ARCHIVE, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("x/Chart.yaml"), io.BytesIO())
    rewrite(given, sha256=sha256_of(given / ARCHIVE))


@pytest.mark.usefixtures("recorded")
def test_a_package_that_is_not_the_pinned_one_is_not_published(
    run: Command, output: Path, pins: Path
) -> None:
    shutil.rmtree(output)
    repin(pins, "0" * 64)

    refused = run()

    assert (refused.code, output.exists()) == (2, False)
    assert f"{pins} pins {'0' * 64}" in refused.error


# Once this changes, so does the official chart's package: run `CHART_DIGESTS=record hyperpod-cdk
# charts`, which writes its digest into charts/pins.yaml, too.
PACKAGING = "90498e2ec0210708776326edcbb0b00621f0023603749d343abc1b6352eee647"


@pytest.mark.usefixtures("recorded")
def test_what_the_packaging_makes_is_what_it_made_when_the_chart_was_pinned(output: Path) -> None:
    assert sha256_of(output / ARCHIVE) == PACKAGING


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (lambda given, _: repack(given), f"{ARCHIVE}: has SHA-256 "),
        (lambda given, _: (given / ARCHIVE).write_bytes(b"another"), f"{ARCHIVE}: has SHA-256 "),
        (lambda given, _: (given / PROVENANCE).unlink(), f"{PROVENANCE}: cannot be read"),
        (lambda given, _: (given / PROVENANCE).write_text("{}"), f"{PROVENANCE}: package: "),
        (lambda given, _: rewrite(given, sha256="0" * 64), f"{PROVENANCE}: names SHA-256 "),
        (lambda _, pins: repin(pins, "0" * 64), f"{ARCHIVE}: has SHA-256 "),
        (lambda _, pins: repin(pins, "not-recorded"), f"{ARCHIVE}: has SHA-256 "),
    ],
)
def test_another_package_than_the_pinned_one_is_refused(
    *,
    run: Command,
    output: Path,
    pins: Path,
    tmp_path: Path,
    spoil: Callable[[Path, Path], object],
    place: str,
) -> None:
    given = shutil.copytree(output, tmp_path / "given")
    shutil.rmtree(output)
    spoil(given, pins)

    refused = run("package", "--from", str(given / ARCHIVE))

    assert refused.code != 0
    assert place in refused.error
    assert not output.exists()

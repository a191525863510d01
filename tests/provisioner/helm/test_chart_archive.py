"""Assets are opened safely."""

import tarfile
from pathlib import Path

import pytest

from hyperpod_shared.errors import ProvisioningError
from provisioner.aws import s3
from provisioner.aws.s3 import open_zip, unpack_chart
from provisioner.helm import chart
from provisioner.helm.chart import fetch_chart
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import FakeS3, zipped
from tests.support.provisioner.helm_charts import packaged, tgz


@pytest.mark.parametrize("prefix", ["", "my-chart/"])
def test_chart_at_the_top_or_in_one_folder(tmp_path: Path, prefix: str) -> None:
    content = zipped({f"{prefix}Chart.yaml": b"name: x", f"{prefix}templates/a.yaml": b""})
    root = unpack_chart(content, folder=tmp_path / "chart", origin="s3://b/k")
    assert (root / "Chart.yaml").read_text() == "name: x"


@pytest.mark.parametrize(
    "path", ["../evil", "a/../../evil", "/etc/evil", "..\\evil", "C:/evil", "a\\..\\..\\evil"]
)
def test_paths_that_lead_outside_are_refused(path: str) -> None:
    with pytest.raises(ProvisioningError, match="leads outside"):
        open_zip(zipped({path: b"x"}), origin="s3://b/k")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no zip", "is not a zip archive"), (zipped({"a": b""}), r"holds no Chart\.yaml")],
    ids=["no-zip", "no-chart"],
)
def test_other_faults_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ProvisioningError, match=f"s3://b/k {message}"):
        unpack_chart(content, folder=tmp_path, origin="s3://b/k")


def test_a_placeholder_is_refused(tmp_path: Path, repository: Path) -> None:
    s3, chart = FakeS3(), repository / "charts" / "not-packaged" / "Chart.yaml"
    s3.add("b", "k.zip", zipped({"Chart.yaml": chart.read_bytes()}))
    with pytest.raises(ProvisioningError) as refused:
        fetch_chart(s3, bucket="b", key="k.zip", folder=tmp_path, clock=Time().clock)
    assert str(refused.value) == (
        "The templates have a placeholder: the official Helm chart was not packaged. "
        "Run `make charts`, synthesize and deploy again."
    )


def test_packaged_chart_is_stored_as_it_is(tmp_path: Path) -> None:
    assert _fetched(tmp_path, packaged("1.0.0")).read_bytes() == packaged("1.0.0")


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"deps/values.yaml": b"x" * 20_000}, "20,000 bytes"),
        ({"deps/charts/sub.tgz": tgz({"sub/values.yaml": b"x" * 20_000})}, "20,000 bytes"),
        ({f"deps/templates/{number}.yaml": b"" for number in range(11)}, "10 files"),
    ],
    ids=["size", "size in a subchart", "files"],
)
def test_packaged_chart_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], limit: str
) -> None:
    monkeypatch.setattr(chart, "CHART_LIMIT_BYTES", 20_000)
    monkeypatch.setattr(chart, "FILES_LIMIT", 10)
    with pytest.raises(ProvisioningError, match=rf"s3://b/k\.tgz unpacks to more than {limit}"):
        _fetched(tmp_path, tgz(files))
    assert list(tmp_path.iterdir()) == []


def test_sparse_file_is_no_way_around_the_limit(tmp_path: Path) -> None:
    sparse = tarfile.TarInfo("deps/values.yaml")
    sparse.pax_headers = {"GNU.sparse.realsize": str(10**12), "GNU.sparse.size": str(10**12)}
    sparse.pax_headers |= {"GNU.sparse.map": "0,1", "GNU.sparse.name": "deps/values.yaml"}
    sparse.size = 1
    content = tgz({}, sparse)
    assert len(content) < 1_000
    path = tmp_path / "chart.tgz"
    path.write_bytes(content)
    assert chart.mentions(path, {"anything"})


def test_packaged_chart_that_cannot_be_read_is_left_to_helm(tmp_path: Path) -> None:
    assert _fetched(tmp_path, b"no archive").read_bytes() == b"no archive"


def _fetched(folder: Path, content: bytes) -> Path:
    s3 = FakeS3()
    s3.add("b", "k.tgz", content)
    return fetch_chart(s3, bucket="b", key="k.tgz", folder=folder, clock=Time().clock)


def test_too_big_an_archive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "ZIP_LIMIT_BYTES", 10)
    with pytest.raises(ProvisioningError, match="11 bytes, at most 10"):
        open_zip(zipped({"a": b"x" * 11}), origin="s3://b/k")

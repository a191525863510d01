"""Zip assets are opened safely."""

from pathlib import Path

import pytest

from provisioner.aws import archive
from provisioner.aws.archive import open_zip, unpack_chart
from provisioner.framework.errors import ProvisioningError
from tests.handlers.fake_s3 import zipped


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


def test_too_big_an_archive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "UNPACKED_LIMIT_BYTES", 10)
    with pytest.raises(ProvisioningError, match="11 bytes, at most 10"):
        open_zip(zipped({"a": b"x" * 11}), origin="s3://b/k")

"""The chart that a pipeline's configuration pins in S3."""

import hashlib
import io
from pathlib import Path
from typing import Any, cast

import boto3
import pytest

from hyperpod_cdk.pipeline.section import ChartArchiveConfig
from hyperpod_cli.deliver.charts.helm import ChartError
from hyperpod_cli.deliver.charts.package import fetch
from tests.support.provisioner.fake_s3 import client_error

CONTENT = b"a packaged chart"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Session:
    """A boto3 session whose S3 has one object, or refuses."""

    def __init__(self, content: bytes | Exception) -> None:
        self._content = content
        self.reads: list[dict[str, str]] = []

    def client(self, service: str) -> "Session":
        assert service == "s3"
        return self

    def get_object(self, **asked: str) -> dict[str, Any]:
        self.reads.append(asked)
        if isinstance(self._content, Exception):
            raise self._content
        return {"Body": io.BytesIO(self._content)}


def fetched(session: Session, output: Path, *, sha256: str = DIGEST) -> list[str]:
    chart = ChartArchiveConfig(bucket="charts", key="hyperpod.tgz", sha256=sha256)
    said: list[str] = []
    fetch(chart, session=cast("boto3.Session", session), output=output, report=said.append)
    return said


def test_it_is_written_where_the_app_looks_for_it(tmp_path: Path) -> None:
    output = tmp_path / "charts"

    (line,) = fetched(Session(CONTENT), output)

    assert (output / "hyperpod-helm-chart.tgz").read_bytes() == CONTENT
    assert "from s3://charts/hyperpod.tgz" in line


def test_what_is_there_is_not_read_again(tmp_path: Path) -> None:
    session = Session(CONTENT)

    fetched(session, tmp_path)
    fetched(session, tmp_path)

    assert session.reads == [{"Bucket": "charts", "Key": "hyperpod.tgz"}]


def test_another_file_is_refused_and_not_written(tmp_path: Path) -> None:
    with pytest.raises(ChartError) as refused:
        fetched(Session(CONTENT), tmp_path, sha256="0" * 64)

    assert f"has SHA-256 {DIGEST}, but pipeline.chart.sha256 pins {'0' * 64}" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bucket_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChartError, match=r"s3://charts/hyperpod.tgz: cannot be read: .*AccessD"):
        fetched(Session(client_error("AccessDenied", "GetObject")), tmp_path)

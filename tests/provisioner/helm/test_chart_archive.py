"""Charts are fetched as they are; tests/hostile shows what is refused."""

from pathlib import Path

import pytest

from hyperpod_shared.content import content_digest
from hyperpod_shared.errors import ProvisioningError
from provisioner.aws.s3 import Bucket, unpack_chart
from provisioner.helm.chart import fetch_chart
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import FakeS3, zipped
from tests.support.provisioner.helm_charts import packaged


@pytest.mark.parametrize("prefix", ["", "my-chart/"])
def test_chart_at_the_top_or_in_one_folder(tmp_path: Path, prefix: str) -> None:
    content = zipped({f"{prefix}Chart.yaml": b"name: x", f"{prefix}templates/a.yaml": b""})
    root = unpack_chart(content, folder=tmp_path / "chart", digest="", origin="s3://b/k")
    assert (root / "Chart.yaml").read_text() == "name: x"


def test_a_placeholder_is_refused(tmp_path: Path, repository: Path, raises: Raises) -> None:
    s3, chart = FakeS3(), repository / "charts" / "not-packaged" / "Chart.yaml"
    s3.add("b", "k.zip", zipped({"Chart.yaml": chart.read_bytes()}))
    with raises(ProvisioningError):
        fetch_chart(_bucket(s3), key="k.zip", digest="", folder=tmp_path, clock=Time().clock)


def test_packaged_chart_is_stored_as_it_is(tmp_path: Path) -> None:
    assert _fetched(tmp_path, packaged("1.0.0")).read_bytes() == packaged("1.0.0")


def _fetched(folder: Path, content: bytes, *, digest: str = "") -> Path:
    s3 = FakeS3()
    s3.add("b", "k.tgz", content)
    return fetch_chart(_bucket(s3), key="k.tgz", digest=digest, folder=folder, clock=Time().clock)


def _bucket(s3: FakeS3) -> Bucket:
    return Bucket(s3=s3, name="b", account=s3.account)


FILES = {"Chart.yaml": b"name: x", "templates/a.yaml": b"a"}
ZIP_DIGEST = content_digest(FILES, read=FILES.__getitem__)


def test_a_chart_is_what_the_template_was_made_with(tmp_path: Path) -> None:
    s3 = FakeS3()
    s3.add("b", "k.zip", zipped({"templates/": b"", **FILES}))
    clock = Time().clock
    fetch_chart(_bucket(s3), key="k.zip", digest=ZIP_DIGEST, folder=tmp_path, clock=clock)

    digest = content_digest([""], read=lambda _: packaged("1.0.0"))
    assert _fetched(tmp_path, packaged("1.0.0"), digest=digest).is_file()

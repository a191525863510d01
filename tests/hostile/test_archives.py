"""What a hostile archive gets: one line that refuses it, at synthesis and in the provisioner.

A chart with other content than the digest in the template gets one too.
"""

import gzip
import json
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from io import BytesIO
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from hyperpod_cdk import HelmConfig
from hyperpod_cdk.helm import chart
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import values_for_chart
from hyperpod_shared.archives import Room
from hyperpod_shared.content import content_digest
from hyperpod_shared.errors import ProvisioningError
from provisioner.aws import s3
from provisioner.aws.s3 import Bucket, open_zip
from provisioner.helm.chart import fetch_chart
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import FakeS3, zipped
from tests.support.provisioner.helm_charts import packaged, tgz

CHART = {"deps/Chart.yaml": b"apiVersion: v2\nname: deps\nversion: 1.0.0\n"}


def member(name: str, kind: bytes = tarfile.REGTYPE, *, link: str = "") -> tarfile.TarInfo:
    """Return a member of a packaged chart that holds nothing."""
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


def sparse() -> tarfile.TarInfo:
    """Return a file of a terabyte, all of it a hole."""
    found = tarfile.TarInfo("deps/values.yaml")
    found.pax_headers = {"GNU.sparse.realsize": str(10**12), "GNU.sparse.size": str(10**12)}
    found.pax_headers |= {"GNU.sparse.map": "0,1", "GNU.sparse.name": "deps/values.yaml"}
    found.size = 1
    return found


@cache
def bomb() -> bytes:
    return tgz({**CHART, "deps/values.yaml": bytes(101 * 1024 * 1024)})


def of(name: str, kind: bytes = tarfile.REGTYPE, *, link: str = "") -> Callable[[], bytes]:
    """Return what makes a packaged chart with a member that holds nothing."""
    return lambda: tgz(CHART, member(name, kind, link=link))


VALUES = "deps/values.yaml"
PACKAGED: Mapping[str, Callable[[], bytes]] = {
    "garbage": lambda: b"no archive",
    "nothing": lambda: b"",
    "half": lambda: tgz(CHART)[:60],
    "gzip of no archive": lambda: gzip.compress(b"x" * 2_000),
    "bomb": bomb,
    "10,001 files": lambda: tgz({**CHART, **{f"deps/{n}": b"" for n in range(10_001)}}),
    "sparse": lambda: tgz(CHART, sparse()),
    "up": of("deps/../../evil"),
    "absolute": of("/etc/evil"),
    "drive": of("C:/evil"),
    "backslash": of("deps\\..\\..\\evil"),
    "dangling link": of(VALUES, tarfile.SYMTYPE, link="gone"),
    "link to a password file": of("deps/templates/x", tarfile.SYMTYPE, link="/etc/passwd"),
    "hard link": of(VALUES, tarfile.LNKTYPE, link="x"),
    "device": of(VALUES, tarfile.CHRTYPE),
    "pipe": of(VALUES, tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("name", PACKAGED)
def test_a_packaged_chart_is_refused_at_synthesis_and_before_helm(
    name: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    path, content = tmp_path / "mine.tgz", PACKAGED[name]()
    path.write_bytes(content)
    with pytest.raises(HyperPodChartError) as at_synthesis:
        read_hyperpod_chart(path)
    with pytest.raises(ProvisioningError) as before_helm:
        fetched(tmp_path / "fetched", content, suffix="tgz")
    lines = [str(error.value).replace(f"{path}", "FILE") for error in (at_synthesis, before_helm)]
    assert lines == snapshot
    assert all(line.isprintable() for line in lines)
    assert not (tmp_path / "fetched").exists()


def fetched(folder: Path, content: bytes, *, suffix: str, digest: str = "") -> Path:
    """Do what the provisioner does with the asset of a chart."""
    storage, key = FakeS3(), f"k.{suffix}"
    storage.add("b", key, content)
    bucket = Bucket(s3=storage, name="b", account=storage.account)
    return fetch_chart(bucket, key=key, digest=digest, folder=folder, clock=Time().clock)


@pytest.mark.parametrize("inner", ["bomb", "up", "device", "garbage"])
def test_a_chart_in_a_chart_is_no_way_around(inner: str, tmp_path: Path, raises: Raises) -> None:
    content = tgz({**CHART, "deps/charts/sub.tgz": PACKAGED[inner]()})
    with raises(ProvisioningError):
        fetched(tmp_path, content, suffix="tgz")


def aliases(name: str) -> bytes:
    lines = ["x0: &x0 [x]"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]" for n in range(1, 40)]
    return f"name: {name}\nversion: 1.0.0\n".encode() + "\n".join(lines).encode()


TEXTS: Mapping[str, Mapping[str, bytes]] = {
    "Chart.yaml of a script": {"Chart.yaml": b"name: <script>\n"},
    "Chart.yaml without a name": {"Chart.yaml": b"version: 1.0.0\n"},
    "Chart.yaml of a path": {"Chart.yaml": b"name: ../x\n"},
    "Chart.yaml of a list": {"Chart.yaml": b"[]\n- a"},
    "Chart.yaml of text": {"Chart.yaml": b"text"},
    "Chart.yaml with a tag": {"Chart.yaml": b"name: !!python/object/apply:os.system [id]"},
    "Chart.yaml with odd dependencies": {"Chart.yaml": b"name: deps\ndependencies: {a: b}"},
    "binary values": {"values.yaml": b"\xff\x00\x01"},
    "aliases in Chart.yaml": {"Chart.yaml": aliases("deps")},
    "aliases in values.yaml": {"values.yaml": aliases("deps")},
    "brackets": {"values.yaml": b"a: " + b"[" * 200_000},
    "dashes": {"values.yaml": b"- " * 200_000},
    "packaging of a list": {"packaging.json": b"[]"},
    "packaging of numbers": {"packaging.json": b'{"health_monitoring_agent_regions": 1}'},
    "packaging without a name": {
        "packaging.json": json.dumps({"absent": [{"component": "a"}]}).encode()
    },
    "packaging of brackets": {"packaging.json": b"[" * 200_000},
    "values of a region": {"regional-values/values-us-west-2.yaml": b"{"},
    "values of a subchart": {"charts/a/values.yaml": b"{"},
    "an alias of a list": {"Chart.yaml": b"name: deps\ndependencies: [{name: a, alias: [x]}]"},
    "a subchart's dependencies": {
        "charts/a/Chart.yaml": b"name: a\ndependencies: 7",
        "charts/a/charts/b/values.yaml": b"",
    },
}
HELM = HelmConfig.model_validate(
    {"image_registry": "registry.example.com", "components": {"gpu_operator": True}}
)


def test_hostile_texts_in_a_chart_are_refused_at_synthesis(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    said = {}
    for number, (name, hostile) in enumerate(TEXTS.items()):
        usual = {"Chart.yaml": CHART["deps/Chart.yaml"], "values.yaml": b"gpu-operator: {}"}
        files, folder = {**usual, **hostile}, tmp_path / str(number)
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        package = tmp_path / f"{number}.tgz"
        package.write_bytes(tgz({f"deps/{path}": content for path, content in files.items()}))
        said[name] = refusal(folder)
        assert refusal(package) == said[name]
    assert said == snapshot(extension_class=JSONSnapshotExtension)


def refusal(chart: Path) -> str:
    """Return why a chart is refused, without what there is to do."""
    with pytest.raises(HyperPodChartError) as refused:
        values_for_chart(
            read_hyperpod_chart(chart),
            helm=HELM,
            region="us-west-2",
            instance_types=["ml.g5.xlarge"],
        )
    line = str(refused.value)
    assert line.isprintable()
    # The address that pydantic adds is of its version.
    why = line.removeprefix(f"{chart}: ").partition("; package it")[0]
    return why.partition(" For further information")[0]


def test_a_folder_of_too_many_files_is_no_chart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    monkeypatch.setattr(chart, "Room", partial(Room, files=10))
    (tmp_path / "Chart.yaml").write_bytes(CHART["deps/Chart.yaml"])
    for number in range(10):
        (tmp_path / str(number)).touch()
    with raises(HyperPodChartError):
        read_hyperpod_chart(tmp_path)


def special(mode: int) -> zipfile.ZipInfo:
    """Return a member of a zip archive that is no file, as Unix writes it."""
    found = zipfile.ZipInfo("values.yaml")
    found.create_system = 3
    found.external_attr = (mode | 0o777) << 16
    return found


def zip_of(info: zipfile.ZipInfo, *, encrypted: bool = False) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, b"/etc/passwd")
    content = bytearray(buffer.getvalue())
    if encrypted:  # https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.4.4
        for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.index(signature) + flags] |= 1
    return bytes(content)


ZIPS: Mapping[str, Callable[[], bytes]] = {
    "garbage": lambda: b"no zip",
    "no chart": lambda: zipped({"a": b""}),
    **{
        path: partial(zipped, {path: b"x"})
        for path in ("../evil", "a/../../evil", "/etc/evil", "..\\evil", "C:/evil", "a\\..\\evil")
    },
    "link": lambda: zip_of(special(stat.S_IFLNK)),
    "device": lambda: zip_of(special(stat.S_IFCHR)),
    "password": lambda: zip_of(special(stat.S_IFREG), encrypted=True),
    "a folder of a file's name": lambda: zipped({"Chart.yaml": b"", "a": b"", "a/b": b""}),
    "10,001 files": lambda: zipped({str(number): b"" for number in range(10_001)}),
}


@pytest.mark.parametrize("name", ZIPS, ids=ascii)
def test_a_zip_is_refused_in_the_provisioner(name: str, tmp_path: Path, raises: Raises) -> None:
    with raises(ProvisioningError):
        fetched(tmp_path, ZIPS[name](), suffix="zip")


def test_a_zip_that_unpacks_to_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    monkeypatch.setattr(s3, "ZIP_LIMIT_BYTES", 10)
    with raises(ProvisioningError):
        open_zip(zipped({"a": b"x" * 11}), origin="s3://b/k")


FILES = {"Chart.yaml": b"name: x", "templates/a.yaml": b"a"}
OTHERS: Mapping[str, tuple[str, bytes]] = {
    "changed": ("zip", zipped({**FILES, "templates/a.yaml": b"b"})),
    "added": ("zip", zipped({**FILES, "templates/b.yaml": b""})),
    "added under another name": ("zip", zipped({**FILES, "./templates/a.yaml": b"b"})),
    "removed": ("zip", zipped({"Chart.yaml": b"name: x"})),
    "packaged": ("tgz", packaged("1.0.1")),
}
DIGESTS = {
    "zip": content_digest(FILES, read=FILES.__getitem__),
    "tgz": content_digest([""], read=lambda _: packaged("1.0.0")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_chart_that_is_not_the_templates_is_refused(
    name: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    suffix, content = OTHERS[name]
    with pytest.raises(ProvisioningError) as refused:
        fetched(tmp_path, content, suffix=suffix, digest=DIGESTS[suffix])
    line = str(refused.value)
    # A package is compressed by the library of this machine.
    reviewed = line.replace(DIGESTS[suffix], "TEMPLATE")
    assert re.sub(r"\b[0-9a-f]{64}\b", "OTHER", reviewed) == snapshot
    assert line.isprintable()
    assert list(tmp_path.iterdir()) == []

"""The file of an archive: written, read, refused."""

import hashlib
import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from hyperpod_cdk import load_config
from hyperpod_cli.inspect.archive.archive import ArchiveError, read_archive, refuse_other, written
from hyperpod_cli.main import app
from tests.conftest import Raises
from tests.support.archives import ACCOUNT, archive_with
from tests.support.configs import CONFIG_FOLDER

DEFAULT = CONFIG_FOLDER / "default.yaml"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "deployed.zip"
    archive_with().write(path)
    return path


def edited(file: Path, name: str, content: bytes | None) -> None:
    """Write an archive again with another file in it, or without one."""
    with zipfile.ZipFile(file) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    files.pop(name, None)
    with zipfile.ZipFile(file, "w") as archive:
        for each, text in {**files, **({} if content is None else {name: content})}.items():
            archive.writestr(each, text)


def test_what_is_written_is_read(file: Path, tmp_path: Path) -> None:
    found = read_archive(file)
    assert found.deployment == archive_with().deployment
    assert found.templates == archive_with().templates
    assert found.assets == archive_with().assets
    again = tmp_path / "again.zip"
    assert archive_with().write(again) == found.manifest.digest
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("part", [0, 1, 100, 0.3, 0.6, 0.9, -1])
def test_a_truncated_file_is_refused_in_a_line(file: Path, part: float, raises: Raises) -> None:
    content = file.read_bytes()
    size = int(part * len(content)) if 0 < part < 1 else int(part)
    file.write_bytes(content[:size])
    with raises(ArchiveError):
        read_archive(file)


def test_an_archive_of_another_version_is_refused(file: Path, raises: Raises) -> None:
    crafted(file, manifest={"format": 2})
    with raises(ArchiveError):
        read_archive(file)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("templates/ml-platform.json", b"{}"),
        ("deployment.json", None),
        ("another.json", b"{}"),
        ("manifest.json", None),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"format": 1}'),
    ],
)
def test_a_changed_archive_is_refused(
    file: Path, name: str, content: bytes | None, raises: Raises
) -> None:
    edited(file, name, content)
    with raises(ArchiveError):
        read_archive(file)


def crafted(
    file: Path,
    *,
    files: Mapping[str, bytes] = {},
    deployment: Mapping[str, object] = {},
    manifest: Mapping[str, object] = {},
) -> None:
    """Write an archive with other parts, and digests that fit them."""
    with zipfile.ZipFile(file) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    about = json.loads(parts.pop("manifest.json"))
    described = json.loads(parts["deployment.json"]) | deployment
    parts |= {"deployment.json": json.dumps(described).encode(), **files}
    digests = {name: hashlib.sha256(each).hexdigest() for name, each in sorted(parts.items())}
    whole = "".join(f"{name} {digest}\n" for name, digest in digests.items())
    about |= {"files": digests, "digest": hashlib.sha256(whole.encode()).hexdigest(), **manifest}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in {"manifest.json": json.dumps(about).encode(), **parts}.items():
            archive.writestr(name, each)


STACK = {"name": "ml-platform", "status": "UPDATE_COMPLETE"}
NODE_GROUP = {
    "clusterName": "a",
    "nodegroupName": "a",
    "scalingConfig": {"minSize": 0, "desiredSize": 1},
}
CLUSTER = {"ClusterName": "a", "InstanceGroups": [{"InstanceGroupName": "a", "TargetCount": -1}]}
TEMPLATE = "templates/ml-platform.json"


@pytest.mark.parametrize(
    "parts",
    [
        {"files": {"assets/a.zip": bytes(101 << 20)}},
        {"files": {"../evil.sh": b""}},
        {"files": {"templates/../../x.json": b"{}"}},
        {"files": {TEMPLATE: b"[" * 100_000}},
        {"files": {TEMPLATE: b'{"Resources": {"A": 1}}'}},
        {"files": {"templates/ml-other.json": b'{"Resources": {}}'}},
        {"deployment": {"stacks": [{**STACK, "name": "../ml-platform"}]}},
        {"deployment": {"stacks": []}},
        {"deployment": {"cluster": CLUSTER}},
        {"deployment": {"control_plane": {"name": "ml-eks"}}},
        {"deployment": {"node_groups": [NODE_GROUP]}},
        {"deployment": {"cloudformation": {"a": {}}}},
        {"manifest": {"account": "ml"}},
        {"manifest": {"region": "mars-1"}},
    ],
)
def test_a_crafted_archive_is_refused_in_a_line(
    file: Path, parts: Mapping[str, Any], raises: Raises
) -> None:
    crafted(file, **parts)
    with raises(ArchiveError):
        read_archive(file)


@pytest.mark.parametrize(
    ("at", "value"),
    [(8, 0x1), (10, 0x63)],
)
def test_a_file_that_cannot_be_unpacked_is_refused(
    file: Path, at: int, value: int, raises: Raises
) -> None:
    content = bytearray(file.read_bytes())
    # The central directory says how the first member is packed.
    content[content.index(b"PK\1\2") + at] = value
    file.write_bytes(content)
    with raises(ArchiveError):
        read_archive(file)


def test_a_file_that_is_there_twice_is_refused(file: Path) -> None:
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("deployment.json", b"{}")
    with pytest.raises(ArchiveError, match="holds a file twice"):
        read_archive(file)


def changed(tmp_path: Path, **values: object) -> Path:
    """Return the default configuration with other values at the top."""
    lines = DEFAULT.read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(tuple(f"{key}:" for key in values))]
    path = tmp_path / "mine.yaml"
    given = [f"{key}: {json.dumps(value)}" for key, value in values.items()]
    text = "\n".join([*given, *kept]) + "\n"
    if values.get("region"):
        text = text.replace("usw2-", "use1-")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "values",
    [
        {"name": "other"},
        {"region": "us-east-1"},
    ],
)
def test_a_configuration_of_another_deployment_is_refused(
    tmp_path: Path, values: dict[str, object], raises: Raises
) -> None:
    path = changed(tmp_path, **values)
    with raises(ArchiveError):
        refuse_other(archive_with(), config=load_config(path), path=path, source="deployed.zip")


def test_an_archive_of_another_account_is_refused(tmp_path: Path, raises: Raises) -> None:
    def with_role(account: str) -> Path:
        text = DEFAULT.read_text("utf-8")
        role = f"cluster:\n  execution_role_arn: arn:aws:iam::{account}:role/nodes\n"
        path = tmp_path / "mine.yaml"
        path.write_text(text.replace("cluster:\n", role, 1), encoding="utf-8")
        return path

    path = with_role(ACCOUNT)
    refuse_other(archive_with(), config=load_config(path), path=path, source="deployed.zip")
    path = with_role("444455556666")
    with raises(ArchiveError):
        refuse_other(archive_with(), config=load_config(path), path=path, source="deployed.zip")


def test_what_it_has_and_lacks_is_told(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    archive = archive_with(hidden=("ml-hyperpod: token",), unread=("the pods: 403",))
    first, *others = written(archive, path=tmp_path / "deployed.zip")
    digest = archive.write(tmp_path / "deployed.zip")
    shown = first.replace(f"{tmp_path}", "TMP").replace(digest[:12], "DIGEST")
    assert [shown, *others] == snapshot
    with pytest.raises(ArchiveError, match="cannot be written"):
        [*written(archive, path=tmp_path)]


def test_the_command_refuses_what_cannot_be_rehearsed(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    def told(*arguments: str) -> str:
        given = ["rehearse-change", "--config", str(DEFAULT), "--archive", *arguments]
        done = CliRunner().invoke(app(), given)
        assert done.exit_code == 2
        assert done.output.count("\n") == 1
        return done.output.replace(f"{tmp_path}", "TMP")

    missing = str(tmp_path / "none.zip")
    assert told(missing) == snapshot(name="no file")
    assert told(missing, "--save", str(file)) == snapshot(name="saved again")
    # As if there were no package of that name.
    monkeypatch.setitem(sys.modules, "hyperpod_rehearsal.commands", None)
    assert told(str(file)) == snapshot(name="no rehearsal")

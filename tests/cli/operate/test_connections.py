"""A context in a kubeconfig that has others."""

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cli.operate.connections import add_context, kubeconfig_file
from hyperpod_cli.terminal.errors import OpsError

ARN = "arn:aws:eks:us-west-2:111122223333:cluster/ml-eks"
FOUND = {
    "name": "ml-eks",
    "arn": ARN,
    "endpoint": "https://one",
    "certificateAuthority": {"data": "AAAA"},
}
OTHER = {"name": "other", "context": {"cluster": "c", "user": "u", "namespace": "mine"}}
# What is no kubeconfig, or cannot be read.
BAD = ["[]", "a: [", "clusters: text", "clusters: [text]", "kind: Pod", "\x00"]
# PyYAML says it in errors of other kinds.
BAD += ["a: 2026-99-99", f"a: {'9' * 5_000}", "[" * 5_000]


def test_other_contexts_stay_and_an_old_one_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "config"
    text = yaml.safe_dump({"contexts": [OTHER], "users": None, "preferences": {"colors": True}})
    file.write_text(text, "utf-8")
    file.chmod(0o640)

    add_context(file, FOUND, region="us-west-2", alias=None)
    add_context(file, {**FOUND, "endpoint": "https://two"}, region="us-west-2", alias="mine")

    document: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    assert [each["name"] for each in document["contexts"]] == ["other", ARN, "mine"]
    assert document["contexts"][0] == OTHER
    assert [each["cluster"]["server"] for each in document["clusters"]] == ["https://two"]
    (user,) = document["users"]
    assert user["user"]["exec"]["args"][:2] == ["--region", "us-west-2"]
    assert document["current-context"] == "mine"
    assert document["preferences"] == {"colors": True}
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [*tmp_path.iterdir()] == [file]


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "deeper" / "config"
    assert add_context(file, FOUND, region="us-west-2", alias=None) == ARN
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_profile_is_kept_for_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "prod")
    add_context(tmp_path / "config", FOUND, region="us-west-2", alias=None)
    document = yaml.safe_load((tmp_path / "config").read_text("utf-8"))
    assert document["users"][0]["user"]["exec"]["env"] == [{"name": "AWS_PROFILE", "value": "prod"}]


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_kubeconfig_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text, "utf-8")
    with pytest.raises(OpsError, match="set KUBECONFIG"):
        add_context(file, FOUND, region="us-west-2", alias=None)
    assert file.read_text("utf-8") == text


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    add_context(tmp_path / "link", FOUND, region="us-west-2", alias=None)
    assert (tmp_path / "link").is_symlink()
    assert "https://one" in (tmp_path / "target").read_text("utf-8")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OpsError, match="cannot be"):
        add_context(tmp_path / "file" / "config", FOUND, region="us-west-2", alias=None)


def test_the_first_of_several_files_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert kubeconfig_file({"KUBECONFIG": ":/a:/b"}) == Path("/a")
    assert kubeconfig_file({}) == Path("/home/me/.kube/config")

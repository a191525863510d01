"""A page as its readers see it: opened in Chromium, at two widths, in two colours, and printed."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.configs import REPOSITORY

_FOLDER = REPOSITORY / "tests" / "browser"
_NODE = REPOSITORY / ".venv" / "bin" / "node"
# What must be empty of a page that everybody can read.
_FAULTS = (
    "brokenLinks",
    "complaints",
    "notLoaded",
    "repeatedIds",
    "requests",
    "unevenRows",
    "withoutAlt",
    "withoutHeaders",
)


def run(program: str, *arguments: str | Path) -> str:
    """Run a program of tests/browser, and return what it prints."""
    return subprocess.run(
        [_NODE, _FOLDER / program, *arguments], capture_output=True, text=True, check=True
    ).stdout


def looked_at(*pages: Path) -> list[dict[str, Any]]:
    """Open pages, and return what was seen of each."""
    seen: list[dict[str, Any]] = json.loads(run("look.mjs", *pages))
    return seen


def faults(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is wrong with a page, by the kind of fault."""
    found = {name: seen[name] for name in _FAULTS}
    for name in ("contrast", "overflowing"):
        found |= {f"{name} {where}": elements for where, elements in seen[name].items()}
    found["scripts"] = seen["scripts"]
    found["language"] = "" if seen["language"] else "none"
    # Tab leads to every link, and then out of the page.
    *focused, _ = seen["focused"]
    found["unreachable"] = [text for text in focused if not text] + (
        [] if len(set(focused)) == seen["links"] else focused
    )
    levels = [level for level, _ in seen["headings"]]
    found["headings"] = levels if _jumps(levels) else []
    missing = {"header", "nav", "main", "footer"} - {*seen["landmarks"]}
    return {name: what for name, what in {**found, "landmarks": missing}.items() if what}


def _jumps(levels: list[int]) -> bool:
    follows = zip([0, *levels], levels, strict=False)
    return levels.count(1) != 1 or any(level > before + 1 for before, level in follows)

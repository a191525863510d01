"""A page as its readers see it: opened in Chromium, at two widths, in two colours, and printed.

`python -m tests.support.browser` takes a picture of the report for the documentation, which names
the page that it was taken of, so that a test can tell when it is stale. That of the dashboards is
taken by `python -m tests.prometheus.picture`.
"""

import argparse
import hashlib
import json
import struct
import subprocess
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperpod_cli.inspect.report.page import TEMPLATE
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


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"Source"
# A length before a chunk of PNG, and its type and checksum around its data.
_LENGTH, _TYPE, _CHECKSUM = 4, 4, 4


def source() -> str:
    """Return what names the report's page as it looks today."""
    return digest(TEMPLATE.read_bytes())


def digest(page: bytes) -> str:
    """Return what names a page."""
    return hashlib.sha256(page).hexdigest()


def source_of(picture: bytes) -> str | None:
    """Return what a picture says of the page that it was taken of; None if it says nothing."""
    at = len(_SIGNATURE)
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        kind = picture[at + _LENGTH : at + _LENGTH + _TYPE]
        data = picture[at + _LENGTH + _TYPE :][:length]
        if kind == b"tEXt" and data.startswith(_KEYWORD + b"\0"):
            return data.partition(b"\0")[2].decode("latin1")
        at += _LENGTH + _TYPE + length + _CHECKSUM
    return None


def marked(picture: bytes, *, of: str) -> bytes:
    """Return a picture that says what it was taken of: https://www.w3.org/TR/png-3/#11tEXt.

    Args:
        picture: A PNG.
        of: What names the page.
    """
    (length,) = struct.unpack_from(">I", picture, len(_SIGNATURE))
    first = len(_SIGNATURE) + _LENGTH + _TYPE + length + _CHECKSUM
    body = b"tEXt" + _KEYWORD + b"\0" + of.encode("latin1")
    chunk = struct.pack(">I", len(body) - _TYPE) + body + struct.pack(">I", zlib.crc32(body))
    return picture[:first] + chunk + picture[first:]


def take(picture: Path, *, page: Path, of: str, height: int = 1100) -> None:
    """Take a picture of the top of a page.

    Args:
        picture: PNG file to write.
        page: The page.
        of: What names the page.
        height: In pixels.
    """
    run("shoot.mjs", page, picture, str(height))
    picture.write_bytes(marked(picture.read_bytes(), of=of))


def main() -> None:
    """Take the picture of the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.browser", description=__doc__)
    parser.add_argument("report", type=Path, help="report.html of a rehearsal")
    parser.add_argument("picture", type=Path, help="PNG file to write")
    arguments = parser.parse_args()
    take(arguments.picture, page=arguments.report, of=source())


if __name__ == "__main__":
    main()

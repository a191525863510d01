"""A picture of the report for the documentation: `python -m tests.support.screenshot`.

It names the page that it was taken of, so that a test can tell when it is stale.
"""

import argparse
import hashlib
import struct
import zlib
from pathlib import Path

from hyperpod_cli.inspect.report.page import TEMPLATE
from tests.support.browser import run

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"Source"
# A length before a chunk of PNG, and its type and checksum around its data.
_LENGTH, _TYPE, _CHECKSUM = 4, 4, 4


def source() -> str:
    """Return what names the page as it looks today."""
    return hashlib.sha256(TEMPLATE.read_bytes()).hexdigest()


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


def marked(picture: bytes) -> bytes:
    """Return a picture that says what it was taken of: https://www.w3.org/TR/png-3/#11tEXt."""
    (length,) = struct.unpack_from(">I", picture, len(_SIGNATURE))
    first = len(_SIGNATURE) + _LENGTH + _TYPE + length + _CHECKSUM
    body = b"tEXt" + _KEYWORD + b"\0" + source().encode("latin1")
    chunk = struct.pack(">I", len(body) - _TYPE) + body + struct.pack(">I", zlib.crc32(body))
    return picture[:first] + chunk + picture[first:]


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.screenshot", description=__doc__)
    parser.add_argument("report", type=Path, help="report.html of a rehearsal")
    parser.add_argument("picture", type=Path, help="PNG file to write")
    arguments = parser.parse_args()
    run("shoot.mjs", arguments.report, arguments.picture)
    arguments.picture.write_bytes(marked(arguments.picture.read_bytes()))


if __name__ == "__main__":
    main()

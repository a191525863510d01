"""The picture of a rehearsal's output, and the one in the documentation."""

import html
import re
from pathlib import Path

from hyperpod_rehearsal.progress import Progress, recording_console, write_picture

_TEXT = re.compile(r"<text [^>]*>([^<]*)</text>")
LINES = 25


def _text(picture: str) -> str:
    texts = (html.unescape(found).replace("\xa0", " ").rstrip() for found in _TEXT.findall(picture))
    return "\n".join(text for text in texts if text)


def test_it_shows_what_a_reader_needs_with_colours_and_no_spinner(tmp_path: Path) -> None:
    console = recording_console()
    progress = Progress(console)
    with progress.step("Verifying"):
        for name in ("first", "second", "third", "fourth"):
            progress.say(f"  ok   the <{name}> check")
    progress.show("\nOutputs of a stack\n  Name   value\n\nThe end")
    write_picture(console, tmp_path / "picture.svg", title="make rehearse")

    picture = (tmp_path / "picture.svg").read_text("utf-8")
    title, *lines = _text(picture).splitlines()
    assert title == "make rehearse"
    assert [re.sub(r"[0-9.]+ s", "0 s", line) for line in lines] == [
        "[  0 s] Verifying ...",
        "[  0 s]   ok   the <first> check",
        "[  0 s]   ok   the <second> check",
        "            ... and 2 more checks",
        "The end",
    ]
    assert {"r1", "r2"} == set(re.findall(r'class="rehearsal-(r\d)"', picture))


def test_the_documentation_shows_a_rehearsal_of_today(repository: Path) -> None:
    picture = (repository / "docs" / "rehearsal.svg").read_text("utf-8")
    shown = _text(picture)

    lines = len(shown.splitlines()) - 1  # without the title
    assert lines <= LINES
    passed = re.search(r"Rehearsal succeeded in \d+ s\. (\d+) of (\d+) checks passed", shown)
    more = re.search(r"\.\.\. and (\d+) more checks", shown)
    assert passed is not None
    assert more is not None
    assert int(passed[1]) == int(passed[2]) == int(more[1]) + len(re.findall(r"\]   ok   ", shown))
    assert "url(http" not in picture
    assert str(repository) not in picture

"""The picture of a rehearsal's output in the documentation."""

import html
import re
from pathlib import Path

_TEXT = re.compile(r"<text [^>]*>([^<]*)</text>")
LINES = 25


def _text(picture: str) -> str:
    texts = (html.unescape(found).replace("\xa0", " ").rstrip() for found in _TEXT.findall(picture))
    return "\n".join(text for text in texts if text)


def test_the_documentation_shows_a_rehearsal_of_today(repository: Path) -> None:
    picture = (repository / "docs" / "rehearsal.svg").read_text("utf-8")
    title, *lines = _text(picture).splitlines()

    assert title == "hyperpod-cdk rehearse config/default.yaml"
    assert len(lines) <= LINES
    held = re.search(r"^(\d+) of (\d+) checks hold$", "\n".join(lines), re.MULTILINE)
    assert held is not None and held[1] == held[2]
    assert lines[-1].startswith("Rehearsal succeeded in ")
    assert "url(http" not in picture
    assert str(repository) not in picture

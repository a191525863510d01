"""docs/report.png, the picture of a report in the documentation."""

from pathlib import Path

from resvg_py import svg_to_bytes

from tests.support.browser import marked, source, source_of

_MOST_BYTES = 200_000


def test_the_documentation_shows_the_page_of_today(repository: Path) -> None:
    picture = (repository / "docs" / "report.png").read_bytes()
    assert source_of(picture) == source(), "docs/report.png is stale: run `make rehearsal-picture`"
    assert len(picture) < _MOST_BYTES


def test_a_picture_says_which_page_it_shows() -> None:
    plain = svg_to_bytes(
        svg_string='<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    )
    assert source_of(plain) is None
    assert source_of(marked(plain)) == source()

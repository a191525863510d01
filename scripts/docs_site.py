"""A hook of MkDocs: what stands outside docs/ has no page, so its links become their text."""

import re

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./(?!adr/)[^)]*\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the text of a page without links that lead out of the site."""
    return _OUTSIDE.sub(r"\1", markdown)

"""Writes an SVG image: rectangles, texts and lines in one style."""

from textwrap import wrap
from xml.sax.saxutils import escape, quoteattr

_LETTER = 0.55
"""Width of a letter in a wide font, of its size: which font will be used is not known here."""
# Solid colors on the image's own background are legible on light and dark pages.
_STYLE = """
  text { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif;
         font-size: 13px; fill: #46535f }
  .title { font-size: 14px; font-weight: 600; fill: #1b2733 }
  .heading { font-size: 19px; font-weight: 600; fill: #1b2733 }
  .middle { text-anchor: middle }
  .end { text-anchor: end }
  .line { fill: none; stroke: #46535f; stroke-width: 1.6 }
  .grid { fill: none; stroke: #d5dee6 }
  .dashed { stroke-dasharray: 6 4 }
  .arrow { marker-end: url(#head) }
"""
_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="#46535f"/>'
    "</marker></defs>"
)


def broken(words: str, width: float, *, size: float = 13) -> list[str]:
    """Break a text into lines that fit a width; a name only where it does not fit alone."""
    return wrap(words, width=max(8, int(width / (size * _LETTER))), break_on_hyphens=False)


class Svg:
    """An image; its height is where the lowest element ends.

    Args:
        width: In pixels.
        style: CSS of the image's own classes.
    """

    def __init__(self, *, width: int, style: str = "") -> None:
        self._width, self._style = width, style
        self._elements: list[str] = []
        self.bottom = 0.0

    def rect(self, x: float, y: float, width: float, height: float, *, style: str) -> None:
        """Add a rectangle."""
        self.bottom = max(self.bottom, y + height)
        self._elements.append(
            f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
            ' rx="5"/>'
        )

    def text(self, words: str, x: float, y: float, *, style: str = "body") -> None:
        """Add a line of text; `y` is where its letters stand."""
        self.bottom = max(self.bottom, y)
        self._elements.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(words)}</text>')

    def path(self, points: str, *, style: str = "line") -> None:
        """Add a path, by SVG's commands."""
        self._elements.append(f'<path class="{style}" d="{points}"/>')

    def document(self, *, title: str, description: str) -> str:
        """Return the image; screen readers read title and description out."""
        height = self.bottom + 16
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {height:g}" '
                f'width="{self._width}" height="{height:g}" role="img" '
                f"aria-label={quoteattr(title)}>",
                f"<title>{escape(title)}</title>",
                f"<desc>{escape(description)}</desc>",
                f"<style>{_STYLE}{self._style}</style>",
                _HEAD,
                f'<rect width="{self._width}" height="{height:g}" rx="8" fill="#ffffff"/>',
                *self._elements,
                "</svg>\n",
            ]
        )

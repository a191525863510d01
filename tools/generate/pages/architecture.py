"""Draw what the default configuration deploys: docs/architecture.svg, and as Mermaid in a page."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cli.inspect.diagram.picture import drawn, pictured
from tools.generate import REPOSITORY
from tools.generate.marks import with_part
from tools.generate.synthesis import assembly

_DOCS = REPOSITORY / "docs"
_PAGE = _DOCS / "concepts.md"


def render() -> Mapping[Path, str]:
    """Return the picture, and the page with the diagram."""
    stacks = pictured(assembly())
    svg, mermaid = (drawn(stacks, file_format=each).decode() for each in ("svg", "mermaid"))
    diagram = f"```mermaid\n{mermaid}```\n"
    page = with_part(_PAGE.read_text("utf-8"), mark="diagram", text=diagram)
    return {_DOCS / "architecture.svg": svg, _PAGE: page}

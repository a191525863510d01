"""Draw what the default configuration deploys: an overview, and each resource as Mermaid."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cli.inspect.diagram.picture import drawn, overview_picture, pictured
from tools.generate import REPOSITORY
from tools.generate.marks import with_part
from tools.generate.synthesis import assembly

_OVERVIEW = REPOSITORY / "docs" / "architecture.svg"
_PAGE = REPOSITORY / "docs" / "concepts.md"


def render() -> Mapping[Path, str]:
    """Return the overview, and the page with the diagram."""
    mermaid = drawn(pictured(assembly()), file_format="mermaid").decode()
    page = with_part(_PAGE.read_text("utf-8"), mark="diagram", text=f"```mermaid\n{mermaid}```\n")
    return {_OVERVIEW: overview_picture(assembly()), _PAGE: page}

"""Write what the default configuration deploys: docs/architecture.svg, and docs/concepts.md.

The first is an overview, the second has each resource, as Mermaid.

`make picture` runs it: `python -m tools.generate.architecture_diagram cdk.out/default`.
"""

import sys
from pathlib import Path

from hyperpod_cli.inspect.diagram.picture import drawn, overview_picture, pictured

TARGET = Path(__file__).parents[2] / "docs" / "concepts.md"
OVERVIEW = TARGET.with_name("architecture.svg")
_BEGIN, _END = "<!-- diagram -->\n", "<!-- /diagram -->"


def render(page: str, *, assembly: Path) -> str:
    """Return the page with the diagram of what is in a directory of templates."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    diagram = drawn(pictured(assembly), file_format="mermaid").decode()
    return f"{before}{_BEGIN}```mermaid\n{diagram}```\n{_END}{after}"


if __name__ == "__main__":
    written = render(TARGET.read_text(encoding="utf-8"), assembly=Path(sys.argv[1]))
    TARGET.write_text(written, encoding="utf-8")
    OVERVIEW.write_text(overview_picture(Path(sys.argv[1])), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET} and {OVERVIEW}\n")

"""Write docs/api.md, which has the docs site show the docstring of every public name.

Run it after changing the public names: `python -m tools.generate.api_reference`.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]
TARGET = _REPOSITORY / "docs" / "api.md"
_PACKAGE = _REPOSITORY / "constructs" / "hyperpod_cdk"
_HEADER = """# API of the library

The public names of `hyperpod_cdk`, which an app imports from there. A class whose name ends in
`Config` is a section of the configuration file, with the same keys ([all of
them](configuration.md)). `make docs` fills this page with the docstrings. The apps in
`examples/` use these names.
"""


def render() -> str:
    """Return the page's text: a directive for each public name, constructs first."""
    names = sorted(_public_names(), key=lambda name: name.rpartition(".")[2])
    sections = [name for name in names if name.endswith("Config")]
    constructs = [name for name in names if name not in sections]
    return "\n".join(
        [
            _HEADER,
            "## Constructs, functions and errors\n",
            *(f"::: {name}" for name in constructs),
            "\n## Sections of the configuration\n",
            *(f"::: {name}" for name in sections),
            "",
        ]
    )


def _public_names() -> Iterator[str]:
    stub = ast.parse((_PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield f"hyperpod_cdk.{node.module}.{alias.name}"


def main() -> int:
    """Write the file."""
    TARGET.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

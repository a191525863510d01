"""Write docs/api.md, which has the docs site show the docstring of every public name."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.generate import REPOSITORY

TARGET = REPOSITORY / "docs" / "api.md"
_PACKAGE = REPOSITORY / "constructs" / "hyperpod_cdk"
# A whole deployment, above the library.
_STACKS = (
    "hyperpod_stacks.deployment.add_stacks",
    "hyperpod_stacks.pipeline_stack.add_pipeline",
)
_HEADER = """# API of the library

The public names of `hyperpod_cdk`, which an app imports from there, and the functions of
`hyperpod_stacks` that create a whole deployment. A class whose name ends in `Config` is a section
of the configuration file, with the same keys ([all of them](configuration.md)). `make docs` fills
this page with the docstrings. The apps in `examples/` use these names.
"""


def render() -> Mapping[Path, str]:
    """Return the page: a directive for each public name, constructs first."""
    names = sorted(_public_names(), key=lambda name: name.rpartition(".")[2])
    sections = [name for name in names if name.endswith("Config")]
    constructs = [name for name in names if name not in sections]
    lines = [
        _HEADER,
        "## Constructs, functions and errors\n",
        *(f"::: {name}" for name in constructs),
        "\n## Sections of the configuration\n",
        *(f"::: {name}" for name in sections),
        "",
    ]
    return {TARGET: "\n".join(lines)}


def _public_names() -> Iterator[str]:
    yield from _STACKS
    stub = ast.parse((_PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield f"hyperpod_cdk.{node.module}.{alias.name}"

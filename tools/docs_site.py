"""A hook of MkDocs: README.md is the first page, and the site needs nothing from elsewhere."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_README = Path(__file__).parent.parent / "README.md"
_IFRAME_WORKER = "docs/node_modules/iframe-worker/shim/index.js"
"""What stands for a worker where the browser allows none: in a site that is read from a folder."""
_DECISIONS = "adr"
_ELSEWHERE = re.compile(
    r"<(?:script|img|iframe)\b[^>]*\bsrc=\"?https?:[^>]*>|<link\b[^>]*stylesheet[^>]*https?:[^>]*>"
)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)#]*)((?:#[^)]*)?)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the decisions to the navigation, which names every other page."""
    folder = Path(config.docs_dir) / _DECISIONS
    pages = sorted(f"{_DECISIONS}/{path.name}" for path in folder.glob("*.md"))
    config.nav = [*(config.nav or ()), {"Decisions": pages}]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add README.md, whose links start at the top of the repository, as `index.md`."""
    # Here, because the tools of the site have an environment of their own.
    from mkdocs.structure.files import File  # noqa: PLC0415

    text = _README.read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    worker = _README.parent / _IFRAME_WORKER
    files.append(File.generated(config, "assets/iframe-worker.js", abs_src_path=str(worker)))
    return files


def on_page_markdown(markdown: str, *, files: Files, page: Page, **_: object) -> str:
    """Return the text of a page in which a link that leads out of the site is its text."""
    folder = posixpath.dirname(page.file.src_uri)

    def linked(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        return match[0] if files.get_file_from_path(target) is not None else match[1]

    return _LINK.sub(linked, markdown)


def on_post_page(output: str, *, page: Page, **_: object) -> str:
    """Refuse a page that would load a script, a style or a picture from elsewhere."""
    # Here, because the tools of the site have an environment of their own.
    from mkdocs.exceptions import PluginError  # noqa: PLC0415

    if found := _ELSEWHERE.search(output):
        message = f"{page.file.src_uri}: {found[0]} comes from elsewhere; put it into docs/"
        raise PluginError(message)
    return output

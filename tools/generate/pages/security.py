"""Write the roles of the default deployment into docs/security.md."""

from collections.abc import Mapping
from pathlib import Path

from tools.generate import REPOSITORY
from tools.generate.synthesis import default_assembly
from tools.security.page import with_roles
from tools.security.roles import read_roles

_PAGE = REPOSITORY / "docs" / "security.md"


def render() -> Mapping[Path, str]:
    """Return the page with the roles as the templates have them."""
    return {_PAGE: with_roles(_PAGE.read_text("utf-8"), roles=read_roles(default_assembly()))}

"""Draw an overview of what the default configuration deploys."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cli.inspect.diagram.picture import overview_picture
from tools.generate import REPOSITORY
from tools.generate.synthesis import assembly

_OVERVIEW = REPOSITORY / "docs" / "architecture.svg"


def render() -> Mapping[Path, str]:
    """Return the overview."""
    return {_OVERVIEW: overview_picture(assembly())}

"""Draw what the default configuration deploys."""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cdk import load_config
from hyperpod_cli.inspect.diagram.picture import picture
from tools.generate import REPOSITORY
from tools.generate.synthesis import DEFAULT

TARGET = REPOSITORY / "docs" / "architecture.svg"


def render() -> Mapping[Path, str]:
    """Return the picture."""
    return {TARGET: picture(load_config(DEFAULT))}

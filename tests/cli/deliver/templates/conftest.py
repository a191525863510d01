"""What the tests of the templates share."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.template_package import template_package


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the default configuration."""
    return template_package(tmp_path_factory)


@pytest.fixture(scope="session")
def templates(package: Path) -> dict[str, dict[str, Any]]:
    """Return the template of each stack."""
    return {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in (package / "templates").glob("*.json")
    }

"""The stage of each example that a file deploys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.stage import Stage
from tests.support.configs import CONFIG_FOLDER
from tests.support.stages import stage_until_destroyed


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each file the examples that it names."""
    if "config_path" in metafunc.fixturenames:
        paths = [CONFIG_FOLDER / "examples" / f"{name}.yaml" for name in metafunc.module.EXAMPLES]
        metafunc.parametrize("config_path", paths, ids=lambda path: path.stem, scope="module")


@pytest.fixture(scope="module")
def stage(config_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A local AWS with what the example names; the first test deploys the example."""
    with stage_until_destroyed(tmp_path_factory.mktemp("example"), config_path) as made:
        yield made

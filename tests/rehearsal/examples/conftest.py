"""The stage of each example that a file deploys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.configs import CONFIG_FOLDER
from tests.support.seen_resources import Seen, left_of, seen_by
from tests.support.stages import stage_until_destroyed


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each file the examples that it names."""
    if "config_path" in metafunc.fixturenames:
        paths = [CONFIG_FOLDER / "examples" / f"{name}.yaml" for name in metafunc.module.EXAMPLES]
        metafunc.parametrize("config_path", paths, ids=lambda path: path.stem, scope="module")


@pytest.fixture(scope="module")
def before() -> dict[Path, Seen]:
    """What exists of each example before its deployment."""
    return {}


@pytest.fixture(scope="module")
def stage(
    config_path: Path, before: dict[Path, Seen], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A local AWS with what the example names, which is in the end what it was.

    The first test deploys the example.
    """
    directory = tmp_path_factory.mktemp("example")
    with stage_until_destroyed(directory, config_path, left=left_of) as made:
        before[config_path] = seen_by(made)
        yield made

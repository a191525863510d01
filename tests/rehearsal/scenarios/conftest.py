"""The stage that the tests of a file share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import FORMER_VERSION, UPGRADED, in_turn
from tests.support.stages import stage_until_destroyed


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each file the scenarios of its configuration."""
    if "scenario" in metafunc.fixturenames:
        metafunc.parametrize("scenario", in_turn()[metafunc.module.CONFIG])


@pytest.fixture(scope="module")
def config_path(request: pytest.FixtureRequest) -> Path:
    """The configuration that the tests of a file deploy."""
    path: Path = request.module.CONFIG
    return path


@pytest.fixture(scope="module")
def stage(config_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A local AWS; the first test deploys the configuration, with a topic for messages."""
    directory = tmp_path_factory.mktemp("scenarios")
    document = yaml.safe_load(config_path.read_text("utf-8"))
    document.setdefault("observability", {})["notifications"] = {}
    if config_path == UPGRADED:
        document.setdefault("eks", {})["version"] = FORMER_VERSION
    notified = directory / config_path.name
    notified.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    with stage_until_destroyed(directory, notified) as made:
        yield made

"""The stage that the scenarios of a file share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.stage import Stage
from rehearsal.verification.inspection import left_behind
from tests.support.stages import DEFAULT, bootstrapped_stage


@pytest.fixture(scope="module")
def config_path() -> Path:
    """The configuration that the scenarios of a file deploy."""
    return DEFAULT


@pytest.fixture(scope="module")
def stage(config_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A local AWS; the first scenario deploys the platform and the file system."""
    with bootstrapped_stage(tmp_path_factory.mktemp("scenarios"), config_path) as made:
        yield made
        assert made.destroy() is None
        assert left_behind(made.environment, stacks=made.stacks) == []

"""The stage that the scenarios of a file share."""

from collections.abc import Iterator

import pytest

from rehearsal.stage import Stage
from rehearsal.verification.inspection import left_behind
from tests.support.stages import bootstrapped_stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A local AWS; the first scenario deploys the platform and the file system."""
    with bootstrapped_stage(tmp_path_factory.mktemp("scenarios")) as made:
        yield made
        assert made.destroy() is None
        assert left_behind(made.environment, stacks=made.stacks) == []

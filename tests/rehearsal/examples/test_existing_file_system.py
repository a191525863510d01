"""config/examples/existing-file-system.yaml: what exists is used, and stays as it was."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_ops.preflight.storage.existing_file_systems import existing_file_systems
from hyperpod_ops.preflight.validator import Place
from rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.stages import stage_until_destroyed

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["existing-file-system"]


def described(stage: Stage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stage.environment.clients("fsx").describe_file_systems()[
        "FileSystems"
    ]
    return found


@pytest.fixture(scope="module")
def stage(config_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A local AWS with the file system; when all is destroyed, it is what it was."""
    directory = tmp_path_factory.mktemp("existing")
    with stage_until_destroyed(directory, config_path, left=described) as made:
        assert len(described(made)) == 1
        yield made


def test_the_validator_sees_that_the_nodes_reach_it(stage: Stage) -> None:
    place = Place(
        partition="aws",
        account=stage.environment.aws.account,
        region="us-west-2",
        client=stage.environment.clients,
    )

    assert list(existing_file_systems(stage.config, place)) == []

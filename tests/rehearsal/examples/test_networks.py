"""Networks that exist, wholly or in part, and nodes in several zones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.seen_networks import Seen, changed, seen_of
from tests.support.stages import stage_until_destroyed

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["existing-network", "existing-vpc", "several-zones"]
# What each example consents to.
CONSENTED = {
    "existing-network": {
        "security group sg-0a1b2c3d4e5f60004": ["IpPermissions", "IpPermissionsEgress"]
    },
    "existing-vpc": {
        "vpc vpc-0b1b2c3d4e5f60718": ["CidrBlockAssociationSet"],
        # A new subnet uses it.
        "route table rtb-0b1b2c3d4e5f60001": ["Associations"],
    },
}


def seen_by(stage: Stage) -> Seen:
    vpc_id = stage.config.network.vpc_id
    return {} if vpc_id is None else seen_of(vpc_id, clients=stage.environment.clients)


@pytest.fixture(scope="module")
def before() -> dict[Path, Seen]:
    """Return what was there before the deployment of each example."""
    return {}


@pytest.fixture(scope="module")
def stage(
    config_path: Path, before: dict[Path, Seen], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A local AWS with the network; after it all, that is what it was."""
    directory = tmp_path_factory.mktemp("network")
    with stage_until_destroyed(directory, config_path, left=seen_by) as made:
        before[config_path] = seen_by(made)
        yield made


@pytest.mark.slow(seconds=1)
def test_nothing_but_what_was_consented_to_is_changed(
    stage: Stage, config_path: Path, before: dict[Path, Seen]
) -> None:
    assert stage.deploy_first() is None

    assert changed(before[config_path], seen_by(stage)) == CONSENTED.get(config_path.stem, {})

"""Networks that exist, wholly or in part, and nodes in several zones."""

from pathlib import Path

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.seen_resources import Seen, changed, seen_by

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


@pytest.mark.slow(seconds=1)
def test_nothing_but_what_was_consented_to_is_changed(
    stage: Stage, config_path: Path, before: dict[Path, Seen]
) -> None:
    assert stage.deploy_first() is None

    assert changed(before[config_path], seen_by(stage)) == CONSENTED.get(config_path.stem, {})

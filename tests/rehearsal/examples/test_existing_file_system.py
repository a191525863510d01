"""config/examples/existing-file-system.yaml: what exists is used, and stays as it was."""

from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.existing_file_systems import existing_file_systems
from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["existing-file-system"]


def test_the_validator_sees_that_the_nodes_reach_it(stage: Stage) -> None:
    target = Target(
        partition="aws",
        account=stage.environment.aws.account,
        region="us-west-2",
        client=stage.environment.clients,
    )

    assert list(existing_file_systems(stage.config, target)) == []

"""config/examples/trn2-training-plan.yaml."""

from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["trn2-training-plan"]

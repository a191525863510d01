"""config/examples/hardened.yaml: a key that the deployment makes, for everything."""

from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["hardened"]

"""config/examples/file-systems.yaml: several file systems, and home directories."""

from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["file-systems"]

"""config/examples/node-groups.yaml, and the scenarios that need an EKS node group."""

from tests.support.scenario_tests import NODE_GROUPS, test_what_must_come_of_a_scenario_does

__all__ = ["test_what_must_come_of_a_scenario_does"]

CONFIG = NODE_GROUPS

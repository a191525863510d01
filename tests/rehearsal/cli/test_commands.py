"""The operator's commands, on one deployment: what only looks comes before what changes."""

from tests.support.operations.cluster_tests import (
    test_a_node_is_connected_to,
    test_kubectl_uses_the_kubeconfig,
    test_status_shows_groups_and_health,
    test_the_log_of_a_node_says_what_it_was_doing,
)
from tests.support.operations.command_pictures_tests import (
    test_the_documentation_shows_the_commands_of_today,
    test_what_differs_each_time_has_a_fixed_value_of_the_same_length,
)
from tests.support.operations.env_tests import test_the_manual_path_is_taken_by_the_api
from tests.support.operations.kubernetes_api_tests import (
    signed_in,
    test_each_node_is_found_in_sagemaker_and_in_kubernetes,
    test_who_may_not_is_told_what_to_do,
)
from tests.support.operations.list_tests import test_own_clusters_are_listed
from tests.support.operations.node_tests import (
    test_nodes_are_restarted_replaced_and_deleted,
    test_the_interrupted_wait_says_that_it_goes_on,
    test_what_aws_does_not_accept_is_told,
)
from tests.support.operations.preflight_tests import (
    test_a_deployment_can_be_deployed_again,
    test_bad_input_is_a_line,
    test_what_would_fail_is_told_with_its_fix,
)
from tests.support.operations.scale_tests import (
    test_a_group_is_scaled_by_its_configuration,
    test_a_shortage_is_explained_and_told_once,
    test_events_are_explained,
    test_the_page_names_what_the_commands_call,
)

__all__ = [
    "signed_in",
    "test_a_deployment_can_be_deployed_again",
    "test_a_group_is_scaled_by_its_configuration",
    "test_a_node_is_connected_to",
    "test_a_shortage_is_explained_and_told_once",
    "test_bad_input_is_a_line",
    "test_each_node_is_found_in_sagemaker_and_in_kubernetes",
    "test_events_are_explained",
    "test_kubectl_uses_the_kubeconfig",
    "test_nodes_are_restarted_replaced_and_deleted",
    "test_own_clusters_are_listed",
    "test_status_shows_groups_and_health",
    "test_the_documentation_shows_the_commands_of_today",
    "test_the_interrupted_wait_says_that_it_goes_on",
    "test_the_log_of_a_node_says_what_it_was_doing",
    "test_the_manual_path_is_taken_by_the_api",
    "test_the_page_names_what_the_commands_call",
    "test_what_aws_does_not_accept_is_told",
    "test_what_differs_each_time_has_a_fixed_value_of_the_same_length",
    "test_what_would_fail_is_told_with_its_fix",
    "test_who_may_not_is_told_what_to_do",
]

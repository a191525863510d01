"""The operator's commands, on one deployment: what only looks comes before what changes."""

from tests.support.operations.env_tests import test_the_manual_path_is_taken_by_the_api
from tests.support.operations.kubernetes_api_tests import (
    signed_in,
    test_each_node_is_found_in_sagemaker_and_in_kubernetes,
    test_who_may_not_is_told_what_to_do,
)
from tests.support.operations.list_tests import test_own_clusters_are_listed

__all__ = [
    "signed_in",
    "test_each_node_is_found_in_sagemaker_and_in_kubernetes",
    "test_own_clusters_are_listed",
    "test_the_manual_path_is_taken_by_the_api",
    "test_who_may_not_is_told_what_to_do",
]

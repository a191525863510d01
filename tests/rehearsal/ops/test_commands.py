"""The operator's commands, on one deployment: what only looks comes before what changes."""

from tests.support.operations.env_tests import test_the_manual_path_is_taken_by_the_api
from tests.support.operations.list_tests import test_own_clusters_are_listed

__all__ = [
    "test_own_clusters_are_listed",
    "test_the_manual_path_is_taken_by_the_api",
]

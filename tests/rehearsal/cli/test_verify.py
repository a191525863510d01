"""`hyperpod-ops verify`, on a deployment that its last test breaks."""

from tests.support.operations.verify_tests import (
    test_all_holds_of_what_is_deployed,
    test_every_command_that_is_shown_runs,
    test_what_fails_is_told_with_what_to_do,
)

__all__ = [
    "test_all_holds_of_what_is_deployed",
    "test_every_command_that_is_shown_runs",
    "test_what_fails_is_told_with_what_to_do",
]

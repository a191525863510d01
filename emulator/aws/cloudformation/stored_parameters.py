"""Parameters of a template whose value is in Systems Manager, and is not there.

Worded as in https://github.com/aws-samples/aws-cross-account-cicd-pipeline/issues/40.
"""

import re
from collections.abc import Callable
from typing import Any

from emulator.aws.ministack import changesets, handlers

_ABSENT = re.compile(r"SSM parameter '(?P<name>[^']+)' does not exist")


def install() -> None:
    """Refuse such a template in CloudFormation's words."""
    resolve: Callable[..., dict[str, Any]] = handlers.resolve_parameters

    def resolve_parameters(*arguments: Any, **options: Any) -> dict[str, Any]:
        try:
            return resolve(*arguments, **options)
        except ValueError as error:
            absent = _ABSENT.search(str(error))
            if absent is None:
                raise
            message = f"Unable to fetch parameters [{absent['name']}] from parameter store"
            raise ValueError(f"{message} for this account.") from error

    handlers.resolve_parameters = changesets.resolve_parameters = resolve_parameters

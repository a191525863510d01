"""Stack outputs with exactly the names that users and scripts look up."""

from collections.abc import Mapping

import aws_cdk as cdk


def add_outputs(stack: cdk.Stack, values: Mapping[str, str | None]) -> None:
    """Add one output for each name that has a value.

    No export, so no other stack is held back by it.
    """
    for name, value in values.items():
        if value is not None:
            cdk.CfnOutput(stack, name, value=value).override_logical_id(name)

"""DescribeType, which MiniStack does not know: which resource types there are.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeType.html
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.cloudformation import regional_types
from emulator.aws.ministack import handlers


def _describe(params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a response of MiniStack
    name = handlers.p(params, "TypeName")
    if not regional_types.is_offered(name):
        return handlers.error("TypeNotFoundException", f"The type '{name}' cannot be found.")
    return handlers.xml(
        HTTPStatus.OK,
        "DescribeTypeResponse",
        f"<DescribeTypeResult><Type>RESOURCE</Type><TypeName>{name}</TypeName>"
        "<Visibility>PUBLIC</Visibility></DescribeTypeResult>",
    )


def install() -> None:
    """Answer the operation."""
    handlers.ACTION_HANDLERS["DescribeType"] = _describe

"""Each name that a template gives is as long as its type takes at most.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
"""

from collections.abc import Mapping
from typing import Any

from aws_reference.resource_schemas import schema_of
from tests.support.cloudformation_lists import schema
from tests.support.laws import Deployment


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each name that is too long."""
    found = []
    for resource in deployment.resources:
        known = schema_of(resource.type)
        names = set() if known is None else {*known.names, *known.required} & {*resource.properties}
        for name in sorted(each for each in names if each.endswith("Name")):
            longest = _longest(schema(resource.type), name)
            text = deployment.text(resource.stack, resource.properties[name])
            if longest is not None and len(text) > longest:
                found.append(
                    resource.violation(f"{name} {text} has {len(text)}", allowed=str(longest))
                )
    return found


def _longest(schema_: Mapping[str, Any], name: str) -> int | None:
    length: int | None = schema_["properties"].get(name, {}).get("maxLength")
    return length

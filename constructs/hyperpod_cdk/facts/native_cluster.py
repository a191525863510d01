"""What CloudFormation's own type of a HyperPod cluster takes, and where there is one.

The data file is written by `make generate` from the schemas of
`AWS::SageMaker::Cluster`, whose properties have the names of CreateCluster's members.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.facts import data_of
from hyperpod_cdk.facts.regional_types import regions_of

MemberPath = tuple[str | int, ...]
"""Members and list positions from the top of a request to a value."""

_TYPE = "AWS::SageMaker::Cluster"
_TOKEN = "${Token["  # noqa: S105 - of the CDK


@dataclass(frozen=True, kw_only=True, slots=True)
class Lacking:
    """Something of a request that the type does not take: a member, or a text.

    Of a text, the allowed ones are there if they are listed, and it is not of a wrong form.
    """

    path: MemberPath
    value: object
    allowed: tuple[str, ...] = ()
    is_member: bool = False


def native_regions() -> frozenset[str]:
    """Return the regions in which CloudFormation has the type."""
    return frozenset(regions_of(_TYPE))


def lacking(request: Mapping[str, Any]) -> Iterator[Lacking]:
    """Yield what of a CreateCluster request the type does not take; tokens are not looked at."""
    yield from _lacking(request, data_of("native_cluster")["type"], ())


def _lacking(value: object, schema: Mapping[str, Any], path: MemberPath) -> Iterator[Lacking]:
    match value:
        case Mapping() if "properties" in schema:
            for name, member in value.items():
                known = schema["properties"].get(name)
                if known is None:
                    yield Lacking(path=(*path, name), value=member, is_member=True)
                else:
                    yield from _lacking(member, known, (*path, name))
        case list():
            for index, item in enumerate(value):
                yield from _lacking(item, schema.get("items", {}), (*path, index))
        case str() if _TOKEN not in value:
            allowed = tuple(schema.get("enum", ()))
            if (allowed and value not in allowed) or not _matches(value, schema.get("pattern")):
                yield Lacking(path=path, value=value, allowed=allowed)


def _matches(text: str, pattern: str | None) -> bool:
    return pattern is None or re.search(pattern, text) is not None

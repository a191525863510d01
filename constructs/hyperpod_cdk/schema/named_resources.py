"""What sections name of the account: VPCs, roles, KMS keys, buckets, plans, by ARN, ID or name."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hyperpod_cdk.schema.errors import KeyPath, NamedIndex
from hyperpod_cdk.schema.section import Section, arguments

Kind = Literal[
    "VPC",
    "subnet",
    "security group",
    "route table",
    "NAT gateway",
    "internet gateway",
    "role",
    "principal",
    "KMS key",
    "bucket",
    "file system",
    "training plan",
    "EKS cluster",
    "secret",
    "Prometheus workspace",
    "Grafana workspace",
    "SNS topic",
    "capacity reservations",
    "placement group",
    "OIDC provider",
]


@dataclass(frozen=True, slots=True)
class Names:
    """Marks a type with the kind of what its texts name.

    A role is one that the deployment gives to a service; a principal is an IAM role or user.
    """

    kind: Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedResource:
    """A resource of the account that a section names by its ARN, ID or name."""

    path: KeyPath
    kind: Kind
    value: str


def named_resources(
    value: object, *kinds: Kind, path: KeyPath = (), mark: Kind | None = None
) -> Iterator[NamedResource]:
    """Yield what a section, and those in it, name of some kinds, or of all.

    The mark is of what a text names, or each of a list; None for nothing.
    """
    if isinstance(value, Section):
        for key, kind in _kinds_of(type(value)).items():
            yield from named_resources(getattr(value, key), *kinds, path=(*path, key), mark=kind)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            name = getattr(item, "name", None)
            place = index if name is None else NamedIndex(index, name=name)
            yield from named_resources(item, *kinds, path=(*path, place), mark=mark)
    elif isinstance(value, str) and mark is not None and (mark in kinds or not kinds):
        yield NamedResource(path=path, kind=mark, value=value)


@cache
def _kinds_of(section: type[Section]) -> dict[str, Kind | None]:
    """Return what each field of a section may name, which most do not."""
    kinds: dict[str, Kind | None] = dict.fromkeys(section.model_fields)
    for name, field in section.model_fields.items():
        for mark in (*field.metadata, *arguments(field.annotation)):
            if isinstance(mark, Names):
                kinds[name] = mark.kind
    return kinds

"""What sections name of the account: roles, KMS keys, secrets, topics, plans, by ARN or ID."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.schema.section import Section, arguments

Kind = Literal[
    "principal",
    "KMS key",
    "training plan",
    "EKS cluster",
    "secret",
    "Prometheus workspace",
    "Grafana workspace",
    "SNS topic",
    "capacity reservations",
    "OIDC provider",
]


@dataclass(frozen=True, slots=True)
class Names:
    """Marks a type with the kind of what its texts name; a principal is an IAM role or user."""

    kind: Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedResource:
    """A resource of the account that a section names by its ARN or its ID."""

    path: KeyPath
    kind: Kind
    value: str


def named_resources(value: object, *, path: KeyPath = ()) -> Iterator[NamedResource]:
    """Yield what a section, and those in it, name; anything else names nothing."""
    if isinstance(value, Section):
        for name, kinds in _kinds_of(type(value)).items():
            inner, place = getattr(value, name), (*path, name)
            yield from named_resources(inner, path=place)
            for kind in kinds:
                yield from _texts(inner, kind=kind, path=place)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from named_resources(item, path=(*path, index))


@cache
def _kinds_of(section: type[Section]) -> dict[str, list[Kind]]:
    """Return what each field of a section may name, which most do not."""
    return {
        name: [
            mark.kind
            for mark in (*field.metadata, *arguments(field.annotation))
            if isinstance(mark, Names)
        ]
        for name, field in section.model_fields.items()
    }


def _texts(value: object, *, kind: Kind, path: KeyPath) -> Iterator[NamedResource]:
    if isinstance(value, str):
        yield NamedResource(path=path, kind=kind, value=value)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _texts(item, kind=kind, path=(*path, index))

"""The name and the instance types of a group.

Of the bases of a section, the last one's keys come first; so these are bases of their own.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from hyperpod_cdk.facts.instance_types import InstanceFacts, instance_facts
from hyperpod_cdk.schema.errors import Finding, KeyPath, refuse
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits
from hyperpod_cdk.schema.section import Api, Listed, Section

InstanceType = Annotated[
    str, ApiLimits(shape_name="sagemaker.ClusterInstanceType", noun="a HyperPod instance type")
]


class GroupConfig(Section, ABC):
    """A group of equal nodes."""

    name: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterInstanceGroupName",
            noun="an instance group name (letters, digits, inner hyphens)",
        ),
        Api("InstanceGroupName"),
    ]
    """Name of the group, unique in the cluster."""

    @property
    @abstractmethod
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""

    @property
    def facts(self) -> tuple[InstanceFacts, ...]:
        """What is known of these types; a type that no public source describes is left out."""
        known = (instance_facts(name) for name in self.possible_instance_types)
        return tuple(facts for facts in known if facts is not None)

    @property
    def has_efa_accelerators(self) -> bool:
        """Whether an instance of the group may have accelerators that communicate over EFA."""
        return any(facts.accelerator and facts.efa_interfaces for facts in self.facts)

    @abstractmethod
    def types_with_paths(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield every type with its path in the group."""


class OneTypeConfig(GroupConfig):
    """A group of one instance type."""

    instance_type: Annotated[
        InstanceType,
        Api("InstanceType"),
        Field(examples=["ml.g5.48xlarge", "ml.p5e.48xlarge", "ml.trn1n.32xlarge", "ml.m5.4xlarge"]),
    ]
    """Instance type with its ml. prefix. The account needs the quota `<type> for cluster usage`."""

    @property
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""
        return (self.instance_type,)

    def types_with_paths(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the type with its path in the group."""
        yield ("instance_type",), self.instance_type


class SeveralTypesConfig(GroupConfig):
    """A group of one instance type, or of the first of several that has capacity."""

    # Validated before instance_type, which is required without them.
    instance_types: Annotated[
        Listed[InstanceType],
        ListLimits(shape_name="sagemaker.ClusterInstanceTypes", noun="instance types"),
        Api("InstanceRequirements.InstanceTypes"),
    ] = ()
    """Instance types to try in this order, in place of instance_type, at most 20; needs continuous
    provisioning. Default: instance_type alone."""

    instance_type: Annotated[
        InstanceType | None,
        Api("InstanceType"),
        Field(examples=["ml.g5.48xlarge", "ml.p5e.48xlarge", "ml.trn1n.32xlarge", "ml.m5.4xlarge"]),
    ] = None
    """Instance type with its ml. prefix; required without instance_types. The account needs the
    quota `<type> for cluster usage`."""

    @property
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""
        return self.instance_types if self.instance_type is None else (self.instance_type,)

    def types_with_paths(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield every type with its path in the group."""
        if self.instance_type is not None:
            yield ("instance_type",), self.instance_type
        for index, instance_type in enumerate(self.instance_types):
            yield ("instance_types", index), instance_type

    @field_validator("instance_type")
    @classmethod
    def _check_instance_type(cls, value: str | None, info: ValidationInfo) -> str | None:
        if "instance_types" in info.data:
            refuse(_type_findings(value, alternatives=info.data["instance_types"]))
        return value


def _type_findings(value: str | None, *, alternatives: tuple[str, ...]) -> Iterator[Finding]:
    if value is None and not alternatives:
        message = "is missing and has no default (or list several in instance_types)"
        yield Finding(value=None, message=message)
    if value is not None and alternatives:
        message = "must be left out with instance_types, which lists every type"
        yield Finding(value=value, message=message)

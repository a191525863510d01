"""The name of an instance group and the types of its instances.

Of the bases of a section, the last one's keys come first; so these are bases of their own.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.limits import ApiLimits
from hyperpod_cdk.config.lists import ListLimits
from hyperpod_cdk.config.section import Listed, Section

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
    ]
    """Name of the group, once in the cluster."""

    @property
    @abstractmethod
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""


class OneTypeConfig(GroupConfig):
    """A group of one instance type."""

    instance_type: InstanceType
    """Instance type with its ml. prefix. The account needs the quota `<type> for cluster usage`."""

    @property
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""
        return (self.instance_type,)


class SeveralTypesConfig(GroupConfig):
    """A group of one instance type, or of the first of several that is to be had."""

    # Validated before instance_type, which is required without them.
    instance_types: Annotated[
        Listed[InstanceType],
        ListLimits(shape_name="sagemaker.ClusterInstanceTypes", noun="instance types"),
    ] = ()
    """Instance types to try in this order, in place of instance_type, at most 20; needs continuous
    provisioning. Default: instance_type alone."""

    instance_type: InstanceType | None = None
    """Instance type with its ml. prefix; required without instance_types. The account needs the
    quota `<type> for cluster usage`."""

    @property
    def possible_instance_types(self) -> tuple[str, ...]:
        """Every type that an instance of the group may have."""
        return self.instance_types if self.instance_type is None else (self.instance_type,)

    @field_validator("instance_type")
    @classmethod
    def _check_instance_type(cls, value: str | None, info: ValidationInfo) -> str | None:
        if "instance_types" in info.data:
            refuse(_type_faults(value, alternatives=info.data["instance_types"]))
        return value


def _type_faults(value: str | None, *, alternatives: tuple[str, ...]) -> Iterator[Fault]:
    if value is None and not alternatives:
        message = "is missing and has no default (or list several in instance_types)"
        yield Fault(value=None, message=message)
    if value is not None and alternatives:
        message = "must be left out beside instance_types, which lists every type"
        yield Fault(value=value, message=message)

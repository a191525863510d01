"""From a member of the API's request back to the key that it is made of."""

from collections.abc import Sequence

from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.schema.section import Api, Section


def key_path_of(section: Section, member: KeyPath) -> KeyPath:
    """Return the path of the key that a member of a section's request is made of.

    It ends at the section whose keys make the member together, as a group's make its volumes.

    Args:
        section: The section.
        member: Members and list positions from the top of `section.to_request()`.
    """
    for name, field in type(section).model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Api):
                parts = tuple(mark.member.split("."))
                shared = min(len(parts), len(member))
                if parts[:shared] == member[:shared]:
                    return (name, *_within(getattr(section, name), member[shared:]))
    return ()


def _within(value: object, member: KeyPath) -> KeyPath:
    if isinstance(value, Section):
        return key_path_of(value, member)
    if isinstance(value, Sequence) and member and isinstance(member[0], int):
        return (member[0], *_within(value[member[0]], member[1:]))
    return ()

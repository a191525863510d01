"""Which keys of the control plane go with one that exists, and which with one that is made."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.schema.errors import Finding

# Keys of a new control plane, each with the value that means the same as leaving it out.
_OF_NEW_ONES: Mapping[str, object] = {
    "cluster_name": None,
    "secrets_kms_key_arn": None,
    "deletion_protection": False,
}
_OF_EXISTING_ONES: Mapping[str, object] = {"set_authentication_mode": False, "addons": ()}


def existing_cluster_findings(eks: Mapping[str, Any]) -> Iterator[Finding]:
    """Find keys that have no effect beside, or without, `cluster_arn`.

    Args:
        eks: The values of the section.
    """
    exists = eks["cluster_arn"] is not None
    for key, absent in (_OF_NEW_ONES if exists else _OF_EXISTING_ONES).items():
        if eks[key] == absent:
            continue
        message = (
            "must be left out: cluster_arn names a cluster that is not made, and stays as it is"
            if exists
            else "must be left out: it is for cluster_arn, which is not set"
        )
        value = list(eks[key]) if isinstance(eks[key], tuple) else eks[key]
        yield Finding(path=(key,), value=value, message=message)
    for index, name in enumerate(eks["addons"]):
        if name in eks["addons"][:index]:
            yield Finding(
                path=("addons", index), value=name, message="is listed twice; name it once"
            )

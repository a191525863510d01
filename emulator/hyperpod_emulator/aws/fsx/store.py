"""File systems and data repository associations, per account and region."""

import secrets
import string
import time
from typing import Any

from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.ministack import get_account_id, get_region, responses
from hyperpod_emulator.aws.refused import Refused

FILE_SYSTEMS = responses.AccountRegionScopedDict()
"""File system id to the record DescribeFileSystems returns."""
READINESS = responses.AccountRegionScopedDict()
"""Id of a file system that no one waited for, to how often it is described as CREATING, and why
that fails, or ""."""
SECURITY_GROUPS = responses.AccountRegionScopedDict()
"""File system id to the ids of the security groups of its network interfaces."""
TASKS = responses.AccountRegionScopedDict()
"""Id of a data repository task to the record DescribeDataRepositoryTasks returns."""
ASSOCIATIONS = responses.AccountRegionScopedDict()
"""Association id to the record DescribeDataRepositoryAssociations returns."""

_MOUNT_NAME_ALPHABET = string.ascii_lowercase + string.digits


def new_id(prefix: str) -> str:
    """Return a new resource id: the prefix, a dash and 17 hexadecimal digits."""
    return f"{prefix}-{secrets.token_hex(9)[:17]}"


def new_mount_name() -> str:
    """Return a Lustre mount name: eight lower-case letters or digits."""
    return "".join(secrets.choice(_MOUNT_NAME_ALPHABET) for _ in range(8))


def arn(path: str) -> str:
    """Return the ARN of an FSx resource of the request's account and region."""
    return f"arn:aws:fsx:{get_region()}:{get_account_id()}:{path}"


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """Return tags as the API lists them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def now() -> float:
    """Return the time in seconds since the epoch, as the JSON protocol writes it."""
    return round(time.time(), 3)


def file_system(file_system_id: object) -> dict[str, Any]:
    """Return a file system, or refuse what names none."""
    record: dict[str, Any] | None = FILE_SYSTEMS.get(file_system_id)
    if record is None:
        raise Refused(f"FileSystemNotFound: File system '{file_system_id}' does not exist.")
    return record


def is_linked(file_system_id: str) -> bool:
    """Return whether a file system has a data repository association."""
    return any(each["FileSystemId"] == file_system_id for each in ASSOCIATIONS.values())


def creating(record: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a file system that may still be CREATING.

    Whether one that is has its names and interfaces already is not documented; this one has not.
    """
    if not READINESS.get(record["FileSystemId"], (0, ""))[0]:
        return record
    later = {"DNSName", "NetworkInterfaceIds"}
    nameless = {key: value for key, value in record.items() if key not in later}
    if "LustreConfiguration" in record:
        lustre = dict(record["LustreConfiguration"])
        del lustre["MountName"]
        nameless["LustreConfiguration"] = lustre
    return {**nameless, "Lifecycle": "CREATING"}


def described(record: dict[str, Any]) -> dict[str, Any]:
    """Return a file system as DescribeFileSystems does: each time it is nearer to its end."""
    left, failure = READINESS.get(record["FileSystemId"], (0, ""))
    if left:
        shown = creating(record)
        READINESS[record["FileSystemId"]] = (left - 1, failure)
        return shown
    if failure:
        return {**record, "Lifecycle": "FAILED", "FailureDetails": {"Message": failure}}
    return record


def delete_file_system(file_system_id: str) -> None:
    """Remove a file system and its associations; the repository's objects stay."""
    for interface_id in FILE_SYSTEMS[file_system_id]["NetworkInterfaceIds"]:
        ec2_api.call("DeleteNetworkInterface", NetworkInterfaceId=interface_id)
    del FILE_SYSTEMS[file_system_id], SECURITY_GROUPS[file_system_id]
    for association_id, association in list(ASSOCIATIONS.items()):
        if association["FileSystemId"] == file_system_id:
            del ASSOCIATIONS[association_id]

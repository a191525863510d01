"""`Custom::FileSystemAvailability`: a file system that can be mounted, and its names.

| request        | on_event | is_complete                             |
|----------------|----------|-----------------------------------------|
| Create, Update | nothing  | what `decide` says of the file system   |
| Delete         | nothing  | at once                                 |

What `decide` says:

| file system                                  | next                              |
|----------------------------------------------|-----------------------------------|
| AVAILABLE or UPDATING, with its names        | done, the names are attributes    |
| the same without a name, CREATING, not found | waited for                        |
| FAILED, MISCONFIGURED, DELETING, …           | fails, with what FSx says         |

CloudFormation's express mode takes a file system as made when CreateFileSystem is answered. Which
attributes it has then, AWS does not say, so they come from here (ADR 46).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hyperpod_shared.aws_errors import AwsClient, or_none
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.framework.properties import Properties, parsed, text
from provisioner.framework.resource import Progress, WaitingResource
from provisioner.framework.retry import Answer, Clock, aws_retried
from provisioner.framework.turn import Turn

_MOUNTABLE = frozenset({"AVAILABLE", "UPDATING"})
_CREATING = "CREATING"
# Has no mount name: it is mounted by its DNS name and a path.
_NFS = "OPENZFS"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemAvailabilityProperties(Properties):
    """The properties that the CDK app sets."""

    PHYSICAL_ID = "{0.file_system_id}/availability"

    file_system_id: str = parsed(text)


@dataclass(frozen=True, kw_only=True)
class FileSystemAvailability(WaitingResource[FileSystemAvailabilityProperties]):
    """Handles `Custom::FileSystemAvailability`."""

    properties_type = FileSystemAvailabilityProperties
    fsx: AwsClient

    def progress(self, properties: FileSystemAvailabilityProperties, turn: Turn) -> Progress:
        """Say whether the file system can be mounted."""
        name = properties.file_system_id
        return Progress(complete=True, data=decide(name, self._describe(name, turn.clock)))

    def _describe(self, identifier: str, clock: Clock) -> Answer | None:
        describe = partial(self.fsx.describe_file_systems, FileSystemIds=[identifier])
        found = or_none(lambda: aws_retried(describe, clock=clock))
        return next(iter(found["FileSystems"]), None) if found else None


def decide(identifier: str, found: Answer | None) -> dict[str, str]:
    """Return the names under which a file system is mounted; None is one that FSx does not know.

    Raises:
        NotReadyError: It cannot be mounted yet.
        ProvisioningError: It will not become available by itself.
    """
    see = f"aws fsx describe-file-systems --file-system-ids {identifier}"
    lifecycle = "not known to FSx" if found is None else str(found["Lifecycle"])
    names = _names(found or {})
    if lifecycle in _MOUNTABLE and names:
        return names
    if found is None or lifecycle in _MOUNTABLE or lifecycle == _CREATING:
        raise NotReadyError(
            f"The file system {identifier} is {lifecycle} and cannot be mounted yet",
            next_step=f"See {see}; deploy again when it is AVAILABLE.",
        )
    raise ProvisioningError(
        f"The file system {identifier} is {lifecycle} and cannot be mounted",
        detail=str((found.get("FailureDetails") or {}).get("Message", "")),
        next_step=f"Fix what the message names (else see {see}), then deploy again: a creation "
        "that fails deletes the file system.",
    )


def _names(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the names that the kind of file system has; none while one of them is missing."""
    names = {"DnsName": found.get("DNSName")}
    if found.get("FileSystemType") != _NFS:
        names["MountName"] = (found.get("LustreConfiguration") or {}).get("MountName")
    return {key: str(value) for key, value in names.items()} if all(names.values()) else {}

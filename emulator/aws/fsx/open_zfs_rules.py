"""What FSx for OpenZFS accepts. Pure functions.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
"""

from collections.abc import Mapping
from typing import Any

Properties = Mapping[str, Any]

_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
_THROUGHPUT = {
    "MULTI_AZ_1": _SECOND,
    "SINGLE_AZ_1": _FIRST,
    "SINGLE_AZ_2": _SECOND,
    "SINGLE_AZ_HA_1": _FIRST,
    "SINGLE_AZ_HA_2": _SECOND,
}
_SMALLEST_GIB, _LARGEST_GIB = 64, 524288


def open_zfs_problem(properties: Properties) -> str | None:
    """Return why FSx would refuse these CloudFormation properties, or None.

    Args:
        properties: Properties of AWS::FSx::FileSystem of type OPENZFS; numbers may be strings.
    """
    settings = properties.get("OpenZFSConfiguration") or {}
    deployment = settings.get("DeploymentType")
    if deployment not in _THROUGHPUT:
        return f"DeploymentType {deployment} is invalid: use one of {', '.join(_THROUGHPUT)}."
    subnets = len(properties.get("SubnetIds") or [])
    if subnets != (2 if deployment == "MULTI_AZ_1" else 1):
        return f"SubnetIds: {deployment} does not take {subnets} subnets."
    throughput = int(settings.get("ThroughputCapacity") or 0)
    if throughput not in _THROUGHPUT[deployment]:
        allowed = ", ".join(map(str, _THROUGHPUT[deployment]))
        return f"ThroughputCapacity {throughput} is invalid for {deployment}: use {allowed}."
    capacity = int(properties.get("StorageCapacity") or 0)
    if not _SMALLEST_GIB <= capacity <= _LARGEST_GIB:
        return f"StorageCapacity {capacity} is invalid: use {_SMALLEST_GIB} to {_LARGEST_GIB} GiB."
    return None

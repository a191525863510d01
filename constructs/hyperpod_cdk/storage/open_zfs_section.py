"""Home directories on FSx for OpenZFS.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
"""

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits, OneOf
from hyperpod_cdk.schema.section import Listed, members
from hyperpod_cdk.storage.claim_section import ClaimConfig
from hyperpod_cdk.storage.maintenance import MaintainedFiles

SMALLEST_GIB, _LARGEST_GIB = 64, 524288
_FIRST_GENERATION = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND_GENERATION = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
# MULTI_AZ_1 takes two subnets and route tables, and HyperPod's nodes are in one zone.
_THROUGHPUTS = {
    "SINGLE_AZ_HA_2": _SECOND_GENERATION,
    "SINGLE_AZ_HA_1": _FIRST_GENERATION,
    "SINGLE_AZ_2": _SECOND_GENERATION,
    "SINGLE_AZ_1": _FIRST_GENERATION,
}


class HomeDirectoriesConfig(MaintainedFiles):
    """An FSx for OpenZFS file system, which pods mount by NFS."""

    capacity_gib: Annotated[int, Field(ge=SMALLEST_GIB, le=_LARGEST_GIB)] = SMALLEST_GIB
    """Size in GiB, 64 to 524288. It can grow later, by a tenth or more every six hours, and never
    shrink."""

    throughput_mbps: int = 160
    """Throughput in MB/s: 160, 320, 640, 1280, 2560, 3840, 5120, 7680 or 10240; of SINGLE_AZ_HA_1
    and SINGLE_AZ_1 64, 128, 256, 512, 1024, 2048, 3072 or 4096."""

    deployment_type: Annotated[
        str, OneOf(values=tuple(_THROUGHPUTS), noun="a deployment type in one zone")
    ] = "SINGLE_AZ_HA_2"
    """SINGLE_AZ_HA_2 and SINGLE_AZ_HA_1 have a standby, SINGLE_AZ_2 and SINGLE_AZ_1 do not. It
    cannot be changed later."""

    compression: Annotated[
        str,
        ApiLimits(shape_name="fsx.OpenZFSDataCompressionType", noun="a data compression of FSx"),
    ] = "LZ4"
    """Data compression: LZ4, ZSTD or NONE. It cannot be changed later."""

    root_squash: bool = False
    """Whether root in a pod is nobody on the file system. It cannot be changed later. Default:
    false, so that a pod can create the directories of users."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the file system, by ID; one of the HyperPod subnets' zones. It cannot be changed
    later. Default: the first HyperPod subnet's."""

    claims: Annotated[
        Listed[ClaimConfig], ListLimits(shape_name="fsx.DataRepositoryAssociations", noun="claims")
    ] = (ClaimConfig(),)
    """What the pods of a namespace mount. Default: one claim, in the namespace default."""

    @property
    def label(self) -> str:
        """What tells its volume and claims from those of others."""
        return "home"

    @property
    def output_prefix(self) -> str:
        """What the names of its outputs begin with."""
        return "Home"

    def to_request(self) -> dict[str, Any]:
        """Return a CreateFileSystemOpenZFSConfiguration."""
        squash = "root_squash" if self.root_squash else "no_root_squash"
        # Any client: the security group restricts them.
        export = {"Clients": "*", "Options": ["rw", "crossmnt", squash]}
        return members(
            {
                **super().to_request(),
                "DeploymentType": self.deployment_type,
                "ThroughputCapacity": self.throughput_mbps,
                # Stated, because AWS's sources contradict each other about the default.
                "AutomaticBackupRetentionDays": self.backup_retention_days or 0,
                "RootVolumeConfiguration.DataCompressionType": self.compression,
                "RootVolumeConfiguration.NfsExports": [{"ClientConfigurations": [export]}],
            }
        )

    @model_validator(mode="after")
    def _check_throughput(self) -> Self:
        refuse(self._findings())
        return self

    def _findings(self) -> Iterator[Finding]:
        allowed = _THROUGHPUTS[self.deployment_type]
        if self.throughput_mbps not in allowed:
            listed = ", ".join(map(str, allowed))
            yield Finding(
                path=("throughput_mbps",),
                value=self.throughput_mbps,
                message=f"must be one of {listed} for {self.deployment_type}, in MB/s",
                is_default="throughput_mbps" not in self.model_fields_set,
            )

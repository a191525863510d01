"""The `storage` section: file systems."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from hyperpod_cdk.hyperpod.node_settings import FsxOpenZfsMountConfig, Mounts
from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, KeyPath, error
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import EKS, Listed, OfHyperPod, OrchestratedBy, members
from hyperpod_cdk.storage.claim_section import ClaimConfig, Claims, MaintainedFiles
from hyperpod_cdk.storage.lustre_section import LustreConfig, NamedLustreConfig

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


PROVISIONED_TAG = "hyperpod-cdk:cluster"
"""Key of a tag of each file system that the CSI driver makes; its value is the EKS cluster."""


class HomeDirectoriesConfig(MaintainedFiles):
    """An FSx for OpenZFS file system, which pods mount by NFS."""

    mounts_key, node_path = "fsx_openzfs_mounts", "/home"

    capacity_gib: Annotated[
        int, Field(ge=SMALLEST_GIB, le=_LARGEST_GIB), Field(examples=[2400, 4800, 9600])
    ] = SMALLEST_GIB
    """Size in GiB, 64 to 524288. It can grow later, by a tenth or more every six hours, and never
    shrink."""

    throughput_mbps: Annotated[int, Field(examples=[320])] = 160
    """Throughput in MB/s: 160, 320, 640, 1280, 2560, 3840, 5120, 7680 or 10240; of SINGLE_AZ_HA_1
    and SINGLE_AZ_1 64, 128, 256, 512, 1024, 2048, 3072 or 4096."""

    deployment_type: Literal["SINGLE_AZ_HA_2", "SINGLE_AZ_HA_1", "SINGLE_AZ_2", "SINGLE_AZ_1"] = (
        "SINGLE_AZ_HA_2"
    )
    """SINGLE_AZ_HA_2 and SINGLE_AZ_HA_1 have a standby, SINGLE_AZ_2 and SINGLE_AZ_1 do not. It
    cannot be changed later."""

    compression: Annotated[
        str,
        ApiLimits(shape_name="fsx.OpenZFSDataCompressionType", noun="a data compression of FSx"),
    ] = "LZ4"
    """Data compression: LZ4, ZSTD or NONE. It cannot be changed later."""

    root_squash: bool = False
    """Whether root in a pod is the user nobody on the file system. It cannot be changed later.
    Default: false, so that a pod can create the directories of users."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the file system, by ID; one of the HyperPod subnets' zones. It cannot be changed
    later. Default: the first HyperPod subnet's."""

    claims: Claims = (ClaimConfig(),)
    """What the pods of a namespace mount. Default: one claim, in the namespace default."""

    @property
    def label(self) -> str:
        """What tells its volume and claims from those of others."""
        return "home"

    @property
    def output_prefix(self) -> str:
        """What the names of its outputs begin with."""
        return "Home"

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        size = f"{self.capacity_gib} GiB at {self.throughput_mbps} MB/s"
        return f"FSx for OpenZFS of {size}, {self.after_deletion}"

    def node_mounts(self, outputs: Mapping[str, str]) -> Mounts:
        """Return what HyperPod mounts on nodes, as outputs of the storage stack name it."""
        name = outputs[f"{self.output_prefix}FileSystemDnsName"]
        return Mounts(openzfs=(FsxOpenZfsMountConfig(dns_name=name, mount_path=self.node_path),))

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


class StorageConfig(LustreConfig):
    """A shared FSx for Lustre file system (PERSISTENT_2), and others next to it."""

    stop_nodes_without_lustre: Annotated[bool, OrchestratedBy(EKS), OfHyperPod()] = False
    """Whether the creation of a node fails if it cannot use Lustre, because of its kernel modules,
    LNet or EFA. Your own scripts do not check this. Default: false, it joins the cluster with a
    warning in its log."""

    more_file_systems: Annotated[
        Listed[NamedLustreConfig], Field(examples=[[{"name": "shared"}]])
    ] = ()
    """Further FSx for Lustre file systems. Default: none."""

    home_directories: Annotated[HomeDirectoriesConfig | None, Field(examples=[{}])] = None
    """An FSx for OpenZFS file system for home directories. Default: none."""

    dynamic_provisioning: Annotated[bool, OrchestratedBy(EKS)] = False
    """Whether claims of the StorageClass fsx-dynamic get a new file system each, which is deleted
    with its claim. Default: false, the CSI driver has no rights in AWS."""

    @property
    def file_systems(self) -> tuple[tuple[KeyPath, LustreConfig], ...]:
        """The Lustre file systems, each with its path from here."""
        further = (
            (("more_file_systems", index), each)
            for index, each in enumerate(self.more_file_systems)
        )
        return (((), self), *further)

    @property
    def placed_files(self) -> tuple[tuple[KeyPath, LustreConfig | HomeDirectoriesConfig], ...]:
        """All file systems, those of home directories last, each with its path from here."""
        homes = self.home_directories
        of_users = () if homes is None else ((("home_directories",), homes),)
        return (*self.file_systems, *of_users)

    @property
    def bucket_names(self) -> tuple[str, ...]:
        """The existing buckets that directories are linked to."""
        locations = [
            each.s3_uri
            for _, files in self.file_systems
            for each in files.data_repositories
            if each.s3_uri is not None
        ]
        return tuple(dict.fromkeys(uri.split("/")[2] for uri in locations))

    @property
    def existing_ids(self) -> tuple[str, ...]:
        """The IDs of the file systems that exist already."""
        ids = (files.file_system_id for _, files in self.file_systems)
        return tuple(each for each in ids if each is not None)

    @property
    def is_deleted_with_stack(self) -> bool:
        """Whether the stack may be deleted without a second thought: with it go all files."""
        return all(each.delete_with_stack for _, each in self.placed_files)

    def _findings(self) -> Iterator[Finding]:
        yield from self._repeated_names()
        yield from self._repeated_claims()

    def _repeated_names(self) -> Iterator[Finding]:
        names = [each.name for each in self.more_file_systems]
        ids = [each.file_system_id for _, each in self.file_systems]
        for index, name in enumerate(names):
            if name in names[:index]:
                path = ("more_file_systems", index, "name")
                yield error(path, name, "is taken; give each file system a name of its own")
        for index, identifier in enumerate(ids):
            if identifier is not None and identifier in ids[:index]:
                path = ("more_file_systems", index - 1, "file_system_id")
                yield error(path, identifier, "is used already; give the other one more claims")

    def _repeated_claims(self) -> Iterator[Finding]:
        seen = set()
        for path, claim, name in self._claims():
            if (claim.namespace, name) in seen:
                message = f"is the second claim of that name in the namespace {claim.namespace}"
                yield error((*path, "name"), name, message)
            seen.add((claim.namespace, name))

    def _claims(self) -> Iterator[tuple[KeyPath, ClaimConfig, str]]:
        for path, files in self.placed_files:
            for index, claim in enumerate(files.claims):
                yield (*path, "claims", index), claim, claim.name or f"{files.label}-claim"

"""What lives as long as the data: file systems, their claims, and Slurm's accounting."""

from collections.abc import Mapping

from constructs import Construct

from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.claims import FileSystemAvailability, provisioning_parameters
from hyperpod_cdk.storage.file_systems import OpenZfs, lustre_file_system
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig, StorageConfig
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.orchestration.orchestration import FileSystem
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind


class StorageStack(DeployedStack):
    """File systems, and the volumes and claims through which pods mount them.

    Protected from termination, and the data retained, unless the configuration says twice that they
    may go. By its outputs HyperPod mounts file systems and finds the accounting.
    """

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, self._platform = stacks.config, stacks.of(PlatformStack)
        outputs = self._platform.orchestration.add_to_storage(self, self._platform)
        self.add_outputs(outputs)
        self.keep_exported(*outputs.values())
        storage = config.storage_of_teams
        if storage is not None:
            for place, files in storage.file_systems:
                self._add_lustre(files, key=("storage", *place), storage=storage)
            if storage.home_directories is not None:
                self._add_home_directories(storage.home_directories)

    def _add_lustre(self, files: LustreConfig, *, key: KeyPath, storage: StorageConfig) -> None:
        is_first = key == ("storage",)
        provisions = is_first and storage.dynamic_provisioning
        suffix = "" if is_first else f"-{files.label}"
        subnets = self._platform.network.node_subnets
        lustre = lustre_file_system(
            self,
            f"Lustre{suffix}",
            vpc=self._platform.network.vpc,
            subnet=subnets.in_zone(files.availability_zone_id),
            zone_id=files.availability_zone_id or subnets.first_zone_id,
            security_group=self._platform.security_group,
            storage=files,
            key=key,
            encryption_key=self._platform.keys.file_system,
        )
        self._mount(
            files,
            key=key,
            suffix=suffix,
            file_system_id=lustre.file_system_id,
            provisioning=self._parameters(storage) if provisions else None,
        )
        self.add_outputs(
            {
                f"{files.output_prefix}DataRepository{number}": location
                for number, location in enumerate(lustre.data_repositories, start=1)
            }
        )

    def _add_home_directories(self, homes: HomeDirectoriesConfig) -> None:
        subnets = self._platform.network.node_subnets
        file_system = OpenZfs(
            self,
            "HomeDirectories",
            subnet=subnets.in_zone(homes.availability_zone_id),
            zone_id=homes.availability_zone_id or subnets.first_zone_id,
            security_group=self._platform.security_group,
            homes=homes,
            encryption_key=self._platform.keys.file_system,
        )
        self._mount(
            homes,
            key=("storage", "home_directories"),
            suffix="-home",
            file_system_id=file_system.file_system_id,
        )

    def _mount(
        self,
        files: LustreConfig | HomeDirectoriesConfig,
        *,
        key: KeyPath,
        suffix: str,
        file_system_id: str,
        provisioning: Mapping[str, str] | None = None,
    ) -> None:
        """Have pods mount a file system, and add the outputs by which nodes mount it."""
        mount = FileSystemAvailability(
            self,
            f"Availability{suffix}",
            file_system_id=file_system_id,
            provisioner=self._platform.provisioner,
        )
        self._platform.orchestration.mount(
            self,
            f"Claim{suffix}",
            FileSystem(
                files=files,
                key=key,
                identifier=file_system_id,
                availability=mount,
                provisioning=provisioning,
            ),
            platform=self._platform,
        )
        prefix = files.output_prefix
        mount_name = mount.mount_name if isinstance(files, LustreConfig) else None
        self.keep_exported(file_system_id, mount.dns_name, mount_name)
        self.add_outputs(
            {
                f"{prefix}FileSystemId": file_system_id,
                f"{prefix}FileSystemDnsName": mount.dns_name,
                f"{prefix}FileSystemMountName": mount_name,
            }
        )

    def _parameters(self, storage: StorageConfig) -> dict[str, str]:
        subnets = self._platform.network.node_subnets
        return provisioning_parameters(
            subnet=subnets.in_zone(storage.availability_zone_id),
            security_group=self._platform.security_group,
            storage=storage,
            eks_cluster_name=self._platform.eks_cluster.cluster_name,
            encryption_key=self._platform.keys.file_system,
        )

"""What Slurm adds to the stacks: what HyperPod mounts on the nodes."""

from collections.abc import Mapping

from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.node_settings import (
    FsxLustreMountConfig,
    FsxOpenZfsMountConfig,
    Mounts,
)
from hyperpod_cdk.hyperpod.orchestrator import Slurm
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.slurm.section import SlurmConfig
from hyperpod_cdk.storage.claims import FileSystemAvailability
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig
from hyperpod_stacks.orchestration.orchestration import Orchestration

# HyperPod's defaults, stated: jobs name them.
_LUSTRE_PATH, _HOMES_PATH = "/fsx", "/home"


class SlurmOrchestration(Orchestration):
    """Slurm, which HyperPod sets up on the nodes: no control plane, no Helm.

    Args:
        config: What to deploy.
    """

    def __init__(self, *, config: Config) -> None:
        self._slurm = config.cluster.slurm or SlurmConfig()
        self._lustre: list[FsxLustreMountConfig] = []
        self._homes: list[FsxOpenZfsMountConfig] = []

    @property
    def orchestrator(self) -> Slurm:
        """What the HyperPod cluster and its nodes' role know of it."""
        mounts = Mounts(lustre=tuple(self._lustre), openzfs=tuple(self._homes))
        return Slurm(slurm=self._slurm, mounts=mounts)

    def mount(
        self,
        scope: Construct,  # noqa: ARG002 - nothing is added: HyperPod mounts it on the nodes
        construct_id: str,  # noqa: ARG002
        *,
        files: LustreConfig | HomeDirectoriesConfig,
        key: KeyPath,  # noqa: ARG002
        file_system_id: str,  # noqa: ARG002
        availability: FileSystemAvailability,
        provisioner: Provisioner,  # noqa: ARG002
        provisioning: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> None:
        """Have HyperPod mount a file system on the nodes: Lustre at /fsx, OpenZFS at /home."""
        name = availability.dns_name
        if isinstance(files, HomeDirectoriesConfig):
            self._homes.append(FsxOpenZfsMountConfig(dns_name=name, mount_path=_HOMES_PATH))
            return
        self._lustre.append(
            FsxLustreMountConfig(
                dns_name=name, mount_name=availability.mount_name, mount_path=_LUSTRE_PATH
            )
        )

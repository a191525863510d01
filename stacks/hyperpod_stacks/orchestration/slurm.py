"""What Slurm adds to the stacks: what HyperPod mounts on the nodes, and its accounting."""

from collections.abc import Iterable, Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.encryption.data_keys import DataKeys
from hyperpod_cdk.hyperpod.node_settings import (
    FsxLustreMountConfig,
    FsxOpenZfsMountConfig,
    Mounts,
)
from hyperpod_cdk.hyperpod.orchestrator import Slurm
from hyperpod_cdk.network.imported import ImportedNetwork
from hyperpod_cdk.network.network import Network
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.slurm.accounting import (
    AccountingAccess,
    AccountingDatabase,
    ImportedAccountingDatabase,
    accounting_database_of,
)
from hyperpod_cdk.storage.claims import FileSystemAvailability
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig
from hyperpod_stacks.orchestration.orchestration import Orchestration

# HyperPod's defaults, stated: jobs name them.
_LUSTRE_PATH, _HOMES_PATH = "/fsx", "/home"


def mounts_of(
    files: Iterable[tuple[LustreConfig | HomeDirectoriesConfig, str, str | None]],
) -> Mounts:
    """Return what HyperPod mounts on the nodes: Lustre at /fsx, OpenZFS at /home.

    Args:
        files: Each file system's section, DNS name, and, with Lustre, mount name.
    """
    lustre, homes = [], []
    for section, name, mount_name in files:
        if isinstance(section, HomeDirectoriesConfig):
            homes.append(FsxOpenZfsMountConfig(dns_name=name, mount_path=_HOMES_PATH))
        else:
            assert mount_name is not None  # noqa: S101 - FSx gives each one
            lustre.append(
                FsxLustreMountConfig(dns_name=name, mount_name=mount_name, mount_path=_LUSTRE_PATH)
            )
    return Mounts(lustre=tuple(lustre), openzfs=tuple(homes))


class SlurmOrchestration(Orchestration):
    """Slurm, which HyperPod sets up on the nodes: no control plane, no Helm.

    Args:
        config: What to deploy.
    """

    def __init__(self, *, config: Config) -> None:
        self._config = config
        self._slurm = config.cluster.slurm_settings
        accounting = config.cluster.accounting
        self._accounting: AccountingDatabase | ImportedAccountingDatabase | None = (
            None
            if accounting is None or not accounting.exists
            else ImportedAccountingDatabase(accounting=accounting)
        )
        self._files: list[tuple[LustreConfig | HomeDirectoriesConfig, str, str | None]] = []

    @property
    def orchestrator(self) -> Slurm:
        """What the HyperPod cluster and its nodes' role know of it."""
        return Slurm(slurm=self._slurm, mounts=mounts_of(self._files), accounting=self._accounting)

    def add_to_storage(
        self,
        scope: Construct,
        *,
        network: Network | ImportedNetwork,
        security_group: ec2.ISecurityGroup,
        keys: DataKeys,
    ) -> Mapping[str, str]:
        """Add the database of the accounting, if it is one of the deployment."""
        accounting = self._config.cluster.accounting
        if accounting is None:
            return {}
        self._accounting = accounting_database_of(
            scope,
            "Accounting",
            vpc=network.vpc,
            zones=self._config.network.zones,
            security_group=security_group,
            accounting=accounting,
            encryption_key=keys.accounting,
        )
        return self._accounting.outputs

    def add_before_cluster(
        self,
        scope: Construct,
        *,
        provisioner: Provisioner,  # noqa: ARG002
        execution_role: iam.IRole,
    ) -> Sequence[Construct]:
        """Let nodes read the secret of the database.

        A role that exists is not changed.
        """
        if self._accounting is None or self._config.cluster.execution_role_arn is not None:
            return ()
        access = AccountingAccess(
            scope, "AccountingAccess", database=self._accounting, role=execution_role
        )
        return (access,)

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
        self._files.append((files, availability.dns_name, availability.mount_name))

"""What Slurm adds to the stacks: what HyperPod mounts on the nodes, and accounting."""

from collections.abc import Mapping, Sequence

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
from hyperpod_cdk.hyperpod.provisioning_parameters import (
    PROVISIONING_PARAMETERS,
    provisioning_parameters,
)
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.imported import ImportedNetwork
from hyperpod_cdk.network.network import Network
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.slurm.accounting import (
    AccountingDatabase,
    ImportedAccountingDatabase,
    accounting_database_of,
    accounting_statements,
)
from hyperpod_cdk.slurm.section import SlurmConfig
from hyperpod_cdk.storage.claims import FileSystemAvailability
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig
from hyperpod_cdk.synthesis.logs import LogGroups
from hyperpod_cdk.synthesis.reasons import acknowledge_inline_policies
from hyperpod_stacks.orchestration.orchestration import Orchestration

# HyperPod's defaults, stated: jobs name them.
_LUSTRE_PATH, _HOMES_PATH = "/fsx", "/home"


class SlurmOrchestration(Orchestration):
    """Slurm, which HyperPod sets up on the nodes: no control plane, no Helm.

    Args:
        config: What to deploy.
    """

    def __init__(self, *, config: Config) -> None:
        self._config = config
        self._database: AccountingDatabase | ImportedAccountingDatabase | None = None
        self._lustre: list[FsxLustreMountConfig] = []
        self._homes: list[FsxOpenZfsMountConfig] = []

    @property
    def orchestrator(self) -> Slurm:
        """What the HyperPod cluster and its nodes' role know of it."""
        mounts = Mounts(lustre=tuple(self._lustre), openzfs=tuple(self._homes))
        return Slurm(
            slurm=self._config.cluster.slurm or SlurmConfig(),
            mounts=mounts,
            accounting={} if self._database is None else self._database.to_request(),
        )

    def add_to_platform(
        self,
        scope: Construct,  # noqa: ARG002 - nothing is added: the controller is a node
        *,
        network: Network | ImportedNetwork,
        security_group: ec2.ISecurityGroup,
        keys: DataKeys,
        log_groups: LogGroups,  # noqa: ARG002
        provisioner: Provisioner,  # noqa: ARG002
    ) -> None:
        """Remember where a database would be."""
        self._vpc, self._security_group, self._keys = network.vpc, security_group, keys

    def add_to_storage(self, scope: Construct) -> Mapping[str, str]:
        """Add the database of Slurm's accounting that the deployment makes."""
        if not self._config.makes_accounting_database:
            return {}
        database = self._accounting(scope)
        return {
            "AccountingEndpoint": database.to_request()["Endpoint"],
            "AccountingSecretArn": database.secret_arn,
        }

    def add_before_cluster(
        self,
        scope: Construct,
        *,
        provisioner: Provisioner,  # noqa: ARG002 - the scripts have it
        execution_role: iam.IRole,
        scripts: LifecycleScripts,
    ) -> Sequence[Construct]:
        """Add what AWS's own scripts read, and the right to read the accounting's secret."""
        groups = self._config.cluster.instance_groups
        text = provisioning_parameters(groups, mounts=self.orchestrator.mounts)
        return (
            # The storage stack knows some of it.
            *scripts.put_beside_own(
                scope, "ProvisioningParameters", files={PROVISIONING_PARAMETERS: text}
            ),
            *self._accounting_access(scope, execution_role),
        )

    def _accounting_access(
        self, scope: Construct, execution_role: iam.IRole
    ) -> Sequence[Construct]:
        if self._config.accounting is None:
            return ()
        database = self._database or self._accounting(scope)
        if self._config.cluster.execution_role_arn is not None:
            return ()  # a role of the user's own, whose rights preflight looks at
        policy = iam.Policy(
            scope,
            "AccountingAccess",
            roles=[execution_role],
            statements=accounting_statements(scope, database),
        )
        acknowledge_inline_policies(policy)
        return (policy,)

    def _accounting(self, scope: Construct) -> AccountingDatabase | ImportedAccountingDatabase:
        assert self._config.accounting is not None  # noqa: S101 - its callers have looked
        self._database = accounting_database_of(
            scope,
            "Accounting",
            vpc=self._vpc,
            zones=self._config.network.zones,
            security_group=self._security_group,
            accounting=self._config.accounting,
            encryption_key=self._keys.accounting,
        )
        return self._database

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

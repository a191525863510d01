"""What Slurm adds to the stacks: what HyperPod mounts on the nodes, and its accounting."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.encryption.data_keys import DataKeys
from hyperpod_cdk.hyperpod.node_settings import NO_MOUNTS
from hyperpod_cdk.hyperpod.orchestrator import Slurm
from hyperpod_cdk.network.imported import ImportedNetwork
from hyperpod_cdk.network.network import Network
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.slurm.accounting import (
    AccountingAccess,
    AccountingDatabase,
    ImportedAccountingDatabase,
    accounting_database_of,
)
from hyperpod_shared.clusters import CONTROLLER
from hyperpod_stacks.orchestration.orchestration import Orchestration


def slurm_of(config: Config, *, outputs: Mapping[str, str]) -> Slurm:
    """Return Slurm with the file systems and the accounting of a deployment.

    Args:
        config: What is deployed.
        outputs: Outputs of the storage stack.
    """
    accounting = config.cluster.accounting
    if accounting is not None and config.makes_accounting:
        made = {"endpoint": "AccountingEndpoint", "secret_arn": "AccountingSecretArn"}
        values = {field: outputs[name] for field, name in made.items()}
        accounting = accounting.model_copy(update=values)
    placed = () if config.storage is None else config.storage.placed_files
    return Slurm(
        mounts=sum((files.node_mounts(outputs) for _, files in placed), NO_MOUNTS),
        accounting=(
            None if accounting is None else ImportedAccountingDatabase(accounting=accounting)
        ),
    )


class SlurmOrchestration(Orchestration):
    """Slurm, which HyperPod sets up on the nodes: no control plane, no Helm.

    Args:
        config: What to deploy.
    """

    def __init__(self, *, config: Config) -> None:
        super().__init__()
        self._config = config
        self._accounting: AccountingDatabase | ImportedAccountingDatabase | None = None

    @property
    def orchestrator(self) -> Slurm:
        """What the role of the nodes knows of it."""
        return Slurm()

    @property
    def of_cluster(self) -> Slurm:
        """What the HyperPod cluster knows of it, once the storage stack is there."""
        return slurm_of(self._config, outputs=self.stored)

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
        """Let the controller read the secret of the database; a role that exists is not changed."""
        database, cluster = self._accounting or self.of_cluster.accounting, self._config.cluster
        controllers = cluster.groups_of_type(CONTROLLER)
        roles = [cluster.execution_role_arn, *(group.execution_role_arn for group in controllers)]
        if database is None or any(roles):
            return ()
        access = AccountingAccess(scope, "AccountingAccess", database=database, role=execution_role)
        return (access,)

"""What Slurm adds to the stacks: what HyperPod mounts on the nodes, and its accounting."""

from collections.abc import Mapping, Sequence

from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.node_settings import NO_MOUNTS
from hyperpod_cdk.hyperpod.orchestrator import Slurm
from hyperpod_cdk.slurm.accounting import (
    AccountingAccess,
    ImportedAccountingDatabase,
    accounting_database_of,
)
from hyperpod_stacks.orchestration.orchestration import Orchestration, Platform


def slurm_of(
    config: Config, *, outputs: Mapping[str, str], secret_key_arn: str | None = None
) -> Slurm:
    """Return Slurm with the file systems and the accounting of a deployment's storage stack.

    The KMS key is that of the secret of a database that it makes, if not Secrets Manager's own.
    """
    accounting = config.cluster.accounting
    if accounting is not None and config.makes_accounting:
        made = {"endpoint": "AccountingEndpoint", "secret_arn": "AccountingSecretArn"}
        values = {field: outputs[name] for field, name in made.items()}
        accounting = accounting.model_copy(update={**values, "secret_kms_key_arn": secret_key_arn})
    placed = () if config.storage is None else config.storage.placed_files
    return Slurm(
        mounts=sum((files.node_mounts(outputs) for _, files in placed), NO_MOUNTS),
        accounting=(
            None if accounting is None else ImportedAccountingDatabase(accounting=accounting)
        ),
    )


class SlurmOrchestration(Orchestration):
    """Slurm, which HyperPod sets up on the nodes: no control plane, no Helm."""

    def __init__(self, *, config: Config) -> None:
        self._config = config

    @property
    def orchestrator(self) -> Slurm:
        """What the role of the nodes knows of it."""
        return Slurm()

    def of_cluster(self, stored: Mapping[str, str]) -> Slurm:
        """Return what the HyperPod cluster knows of it: mounts and accounting."""
        return slurm_of(self._config, outputs=stored)

    def add_to_storage(self, scope: Construct, platform: Platform) -> Mapping[str, str]:
        """Add the database of the accounting, if there is one besides HyperPod's own."""
        accounting = self._config.cluster.accounting
        if accounting is None:
            return {}
        return accounting_database_of(
            scope,
            "Accounting",
            vpc=platform.network.vpc,
            zones=self._config.network.zones,
            security_group=platform.security_group,
            accounting=accounting,
            encryption_key=platform.keys.accounting,
        ).outputs

    def add_before_cluster(
        self, scope: Construct, platform: Platform, *, stored: Mapping[str, str]
    ) -> Sequence[Construct]:
        """Let the controller read the secret of the database; a role that exists is not changed."""
        key = platform.keys.accounting
        key_arn = None if key is None else key.key_arn
        database = slurm_of(self._config, outputs=stored, secret_key_arn=key_arn).accounting
        role = platform.controller_role
        if database is None or role is None:
            return ()
        return (AccountingAccess(scope, "AccountingAccess", database=database, role=role),)

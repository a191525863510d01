"""The database of Slurm's accounting."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.DATA, iam=["rds:DescribeDBInstances"])
def accounting(deployment: LiveDeployment) -> Checks:
    """A new database of Slurm's accounting is available, encrypted, backed up and not public."""
    section = deployment.config.cluster.accounting
    if section is None or section.exists:
        return
    name = deployment.outputs_of("storage")["AccountingDatabaseId"]
    answer = deployment.client("rds").describe_db_instances(DBInstanceIdentifier=name)
    [database] = answer["DBInstances"]
    wrong = [words for words, is_so in _differences(database, section) if is_so]
    yield checked(
        f"aws rds describe-db-instances --db-instance-identifier {name}",
        problem=", ".join(wrong) or None,
        advice="slurmctld holds records back while the database is away. What was changed by hand, "
        "`hyperpod-cdk deploy` of a changed configuration or `aws rds modify-db-instance` sets "
        "again",
    )


def _differences(
    database: Mapping[str, Any], section: AccountingConfig
) -> Iterator[tuple[str, bool]]:
    status = database["DBInstanceStatus"]
    # Backups, maintenance and changes of the size leave it usable.
    yield f"is {status}", status not in ("available", "backing-up", "storage-optimization")
    yield "is not encrypted", not database["StorageEncrypted"]
    yield "is public", database["PubliclyAccessible"]
    yield "has no backups", not database["BackupRetentionPeriod"]
    unprotected = not (database["DeletionProtection"] or section.delete_with_stack)
    yield "has no deletion protection", unprotected

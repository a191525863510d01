"""What a change does to the database of Slurm's accounting."""

from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, StackState, changes

_DATABASE = "AWS::RDS::DBInstance"
# The key of each property, and what its change does besides.
_KEYS = {
    "DBInstanceClass": ("instance_class", "; slurmctld holds records back while it restarts"),
    "AllocatedStorage": ("storage_gib", ""),
    "BackupRetentionPeriod": ("backup_days", ""),
    "MultiAZ": ("multi_az", ""),
}


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what changes of the database; one that comes or goes is told as other resources are."""
    for logical_id, had, has in changes(former, wanted, _DATABASE):
        for name, (key, besides) in _KEYS.items() if had is not None and has is not None else ():
            before, after = ((each or {}).get(name) for each in (had, has))
            if before != after:
                yield Effect(
                    rule="slurm.accounting",
                    text=f"accounting database: {key} {before} -> {after}{besides}",
                    place=("slurm", "accounting", key),
                    resources=frozenset([logical_id]),
                )

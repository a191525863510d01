"""Folders of scripts that groups name."""

from pathlib import Path

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error


def script_folders(cluster: ClusterConfig) -> Findings:
    """Find folders that would have one place in the bucket, which is named as they are.

    A bucket has one object of a key:
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
    """
    first: dict[str, tuple[str | None, str]] = {}
    for where, group in cluster.instance_groups_with_paths():
        own = group.own_scripts
        if own is None or own.directory is None:
            continue
        name = Path(own.directory).name
        if first.setdefault(name, (own.directory, own.run)) != (own.directory, own.run):
            message = (
                f"is named {name}, as a folder of another group is that is another one or runs at "
                "another time; rename it, or copy it under another name"
            )
            yield error((*where, "lifecycle", "directory"), own.directory, message)

"""A group mounts one Lustre and one OpenZFS file system."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def mounts(config: Config) -> Findings:
    """Find groups with a second file system of a kind, which HyperPod does not mount.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    """
    for where, group in config.cluster.instance_groups_with_paths():
        for key in ("fsx_lustre_mounts", "fsx_openzfs_mounts"):
            count = len(getattr(group, key))
            if count > 1:
                message = "file systems are too many: HyperPod mounts one of a kind"
                yield error((*where, key), count, message)
    storage = config.storage
    if storage is not None and storage.more_file_systems:
        message = (
            "would be mounted on no node: HyperPod mounts one Lustre file system, that of storage; "
            "leave them out, and mount others in a lifecycle script"
        )
        names = [each.name for each in storage.more_file_systems]
        yield error(("storage", "more_file_systems"), names, message)

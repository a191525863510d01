"""EBS volumes of nodes."""

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, KeyPath, error, warning


def ebs_volumes(cluster: ClusterConfig) -> Findings:
    """Find keys where HyperPod takes none, and images and pods on the root volume.

    The lifecycle scripts move container images and pods to the second EBS volume, or else to the
    instance store. A volume's own form is checked with the configuration.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    """
    for where, group in cluster.groups_with_paths():
        if not isinstance(group, InstanceGroupConfig):
            yield from _keys(group, where=where)
        elif group.volume_size_gib is None and all(
            volume.root_volume for volume in group.ebs_volumes
        ):
            yield from _crowded_root(group, where=where)


def _keys(group: NodeGroupConfig, *, where: KeyPath) -> Findings:
    for index, volume in enumerate(group.ebs_volumes):
        if volume.kms_key_id is not None:
            path = (*where, "ebs_volumes", index, "kms_key_id")
            message = "must be left out in a restricted instance group, which takes no key"
            yield error(path, volume.kms_key_id, message)


def _crowded_root(group: InstanceGroupConfig, *, where: KeyPath) -> Findings:
    bare = [facts.instance_type for facts in group.facts if not facts.local_nvme_gb]
    if bare:
        yield warning(
            (*where, "volume_size_gib"),
            None,
            f"leaves container images and pods of {bare[0]}, which has no instance store, on the "
            "root volume, which they fill; give a size",
        )

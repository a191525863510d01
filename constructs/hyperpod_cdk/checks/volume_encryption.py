"""The deployment's key on volumes of nodes."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.schema.errors import Findings, error, warning

_SWITCH = ("encryption", "node_volumes")


def volume_encryption(config: Config) -> Findings:
    """Find clusters and groups whose volumes the deployment's key cannot encrypt.

    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    """
    if not (config.encryption.encrypts_volumes and config.cluster.exists):
        return
    if not config.cluster.is_continuous:
        message = (
            "needs cluster.node_provisioning_mode: Continuous: HyperPod takes keys of volumes with "
            "nothing else; set encryption.node_volumes: false"
        )
        yield error(_SWITCH, True, message)
        return
    most = shape("sagemaker.ClusterInstanceStorageConfigs").maximum or 0
    for where, group in config.cluster.groups_with_paths():
        if not isinstance(group, InstanceGroupConfig):
            message = (
                "is not encrypted with the deployment's key, which HyperPod does not take here"
            )
            yield warning(where, group.name, message)
        elif group.storage_count >= most and not any(
            volume.root_volume for volume in group.ebs_volumes
        ):
            message = (
                f"has {most} volumes and mounts, and the root volume's key takes the place of one; "
                "remove a mount, or set encryption.node_volumes: false"
            )
            yield error(where, group.name, message)

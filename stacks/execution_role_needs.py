"""What the configuration's instance groups use of the deployment's execution role."""

from collections.abc import Iterator

from hyperpod_cdk.config import ClusterConfig, InstanceGroupConfig
from hyperpod_cdk.config.node_group import NodeGroupConfig
from hyperpod_cdk.config.rolling_update import DeploymentConfig
from hyperpod_cdk.node_needs import NodeNeeds


def execution_role_needs(cluster: ClusterConfig) -> NodeNeeds:
    """Return the needs of the groups that have no execution role of their own."""
    groups = [group for group in cluster.all_groups if group.execution_role_arn is None]
    overrides = [group.override_vpc for group in groups if group.override_vpc is not None]
    return NodeNeeds(
        subnet_ids=_once(name for vpc in overrides for name in vpc.subnet_ids),
        security_group_ids=_once(name for vpc in overrides for name in vpc.security_group_ids),
        volume_key_ids=_once(key for group in groups for key in _volume_keys(group)),
        lifecycle_s3_uris=_once(
            group.lifecycle.source_s3_uri
            for group in groups
            if isinstance(group, InstanceGroupConfig)
            and group.lifecycle is not None
            and group.lifecycle.source_s3_uri is not None
        ),
        rollback_alarms=any(
            deployment.rollback_alarms for group in groups for deployment in _deployments(group)
        ),
    )


def volume_key_ids(cluster: ClusterConfig) -> tuple[str, ...]:
    """Return the KMS keys of all nodes' volumes, each once."""
    return _once(key for group in cluster.all_groups for key in _volume_keys(group))


def _volume_keys(group: NodeGroupConfig) -> Iterator[str]:
    return (volume.kms_key_id for volume in group.ebs_volumes if volume.kms_key_id is not None)


def _deployments(group: NodeGroupConfig) -> Iterator[DeploymentConfig]:
    updates = [group.scheduled_update]
    patching = group.auto_patch if isinstance(group, InstanceGroupConfig) else None
    for update in (*updates, patching):
        if update is not None and update.deployment is not None:
            yield update.deployment


def _once(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))

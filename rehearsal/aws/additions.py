"""Everything this package adds to MiniStack."""

from rehearsal.aws import (
    execution_input,
    lambda_layers,
    log_groups,
    network_dependencies,
    secure_transport,
)
from rehearsal.aws.cloudformation import (
    cancelled_update,
    custom_resource_rollback,
    exports,
    express_mode,
    failed_deletion,
    replacement,
)
from rehearsal.aws.ec2 import (
    availability_zones,
    cidr_block,
    elastic_ip,
    flow_log,
    nat_gateway,
    security_group_rule,
    subnet,
)
from rehearsal.aws.eks import (
    access_entry,
    addon,
    deletion_protection,
    pod_identity_association,
)
from rehearsal.aws.eks import api as eks_api
from rehearsal.aws.eks import cluster as eks_cluster
from rehearsal.aws.fsx import api as fsx_api
from rehearsal.aws.fsx import data_repository_association, file_system
from rehearsal.aws.iam import managed_policies, principal_arn
from rehearsal.aws.parent_process import Settings
from rehearsal.aws.sagemaker import api as sagemaker_api

RESOURCE_TYPES = (
    elastic_ip.TYPE,
    flow_log.TYPE,
    nat_gateway.TYPE,
    security_group_rule.EGRESS,
    security_group_rule.INGRESS,
    access_entry.TYPE,
    addon.TYPE,
    pod_identity_association.TYPE,
    data_repository_association.TYPE,
    file_system.TYPE,
)


def install(*, settings: Settings) -> None:
    """Register resource types and services, and repair what differs from AWS."""
    secure_transport.install()
    managed_policies.install()
    principal_arn.install()
    availability_zones.install()
    cidr_block.install()
    subnet.install()
    log_groups.install()
    eks_api.install()
    eks_cluster.install(settings=settings)
    deletion_protection.install()
    for resource_type in RESOURCE_TYPES:
        resource_type.register()
    fsx_api.install()
    sagemaker_api.install(settings=settings)
    replacement.install()
    exports.install()
    cancelled_update.install()
    network_dependencies.install(settings=settings)
    custom_resource_rollback.install()
    execution_input.install()
    failed_deletion.install()
    express_mode.install(settings=settings)
    lambda_layers.install(scratch=settings.scratch)

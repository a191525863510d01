"""Everything this package adds to MiniStack."""

from rehearsal.aws import (
    availability_zones,
    custom_resource_rollback,
    ec2_cidr_block,
    ec2_elastic_ip,
    ec2_flow_log,
    ec2_nat_gateway,
    ec2_security_group_rule,
    ec2_subnet,
    eks_access_entry,
    eks_addon,
    eks_api,
    eks_cluster,
    eks_pod_identity_association,
    fsx_api,
    fsx_data_repository_association,
    fsx_file_system,
    lambda_layers,
    managed_policies,
    sagemaker_api,
    secure_transport,
)
from rehearsal.aws.settings import Settings

RESOURCE_TYPES = (
    ec2_elastic_ip.TYPE,
    ec2_flow_log.TYPE,
    ec2_nat_gateway.TYPE,
    ec2_security_group_rule.EGRESS,
    ec2_security_group_rule.INGRESS,
    eks_access_entry.TYPE,
    eks_addon.TYPE,
    eks_pod_identity_association.TYPE,
    fsx_data_repository_association.TYPE,
    fsx_file_system.TYPE,
)


def install(*, settings: Settings) -> None:
    """Register resource types and services, and repair what differs from AWS."""
    secure_transport.install()
    managed_policies.install()
    availability_zones.install()
    ec2_cidr_block.install()
    ec2_subnet.install()
    eks_api.install()
    eks_cluster.install(settings=settings)
    for resource_type in RESOURCE_TYPES:
        resource_type.register()
    fsx_api.install()
    sagemaker_api.install(settings=settings)
    custom_resource_rollback.install()
    lambda_layers.install(scratch=settings.scratch)

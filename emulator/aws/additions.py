"""Everything this package adds to MiniStack."""

from emulator.aws import (
    execution_input,
    lambda_layers,
    log_groups,
    network_dependencies,
    secure_transport,
    service_models,
    vpc_functions,
)
from emulator.aws.cloudformation import (
    cancelled_update,
    condition_values,
    custom_resource_rollback,
    described_type,
    exports,
    express_mode,
    failed_deletion,
    failed_rollback,
    regional_types,
    replacement,
    service_role,
    stored_parameters,
    taken_names,
)
from emulator.aws.ec2 import (
    availability_zones,
    cidr_block,
    elastic_ip,
    endpoint_services,
    flow_log,
    instance_offerings,
    nat_gateway,
    own_network,
    routing,
    security_group_rule,
    subnet,
    vpc_endpoint,
)
from emulator.aws.eks import (
    access_entry,
    addon,
    addon_health,
    addon_versions,
    authentication_mode,
    authorization,
    cluster_subnets,
    cluster_version,
    deletion_protection,
    dropped_properties,
    pod_identity_association,
)
from emulator.aws.eks import api as eks_api
from emulator.aws.eks import cluster as eks_cluster
from emulator.aws.fsx import api as fsx_api
from emulator.aws.fsx import data_repository_association, file_system
from emulator.aws.iam import (
    allowed_calls,
    managed_policies,
    principal_arn,
    read_policies,
    resource_arn,
    simulation,
)
from emulator.aws.kms import keys as kms_keys
from emulator.aws.parent_process import Settings
from emulator.aws.s3 import encryption as s3_encryption
from emulator.aws.sagemaker import api as sagemaker_api
from emulator.aws.sagemaker import cluster as sagemaker_cluster
from emulator.aws.service_quotas import api as service_quotas_api

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
    service_models.install()
    secure_transport.install()
    managed_policies.install()
    principal_arn.install()
    resource_arn.install()
    simulation.install()
    read_policies.install()
    allowed_calls.install(file=settings.allowed_calls)
    availability_zones.install()
    cidr_block.install()
    instance_offerings.install(settings=settings)
    service_quotas_api.install(settings=settings)
    subnet.install()
    endpoint_services.install()
    vpc_endpoint.install()
    routing.install()
    log_groups.install()
    kms_keys.install()
    s3_encryption.install()
    _install_eks(settings)
    for resource_type in RESOURCE_TYPES:
        resource_type.register()
    fsx_api.install()
    sagemaker_api.install(settings=settings)
    sagemaker_cluster.resource_type(settings).register()
    described_type.install()
    regional_types.install(settings=settings)
    taken_names.install()
    replacement.install()
    service_role.install()
    stored_parameters.install()
    exports.install()
    condition_values.install()
    cancelled_update.install()
    network_dependencies.install(settings=settings)
    own_network.install()
    custom_resource_rollback.install()
    execution_input.install()
    failed_deletion.install()
    failed_rollback.install()
    express_mode.install(settings=settings)
    lambda_layers.install(copies=settings.archives)
    vpc_functions.install()


def _install_eks(settings: Settings) -> None:
    eks_api.install()
    authorization.install()
    eks_cluster.install(settings=settings)
    cluster_subnets.install()
    cluster_version.install(settings=settings)
    authentication_mode.install()
    addon_versions.install()
    addon_health.install(settings=settings)
    deletion_protection.install()
    dropped_properties.install()

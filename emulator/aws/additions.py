"""Everything this package adds to MiniStack."""

from emulator.aws import (
    alarms,
    buckets,
    budgets,
    container_images,
    encryption,
    functions,
    grafana,
    messages,
    network_dependencies,
    oidc_providers,
    prometheus,
    rds,
    service_quotas,
)
from emulator.aws.cloudformation import express_mode, failures, service_role, templates, updates
from emulator.aws.ec2 import (
    capacity,
    dns_firewall,
    launches,
    own_network,
    routing,
    subnets,
    traffic,
    vpc_endpoints,
    zones,
)
from emulator.aws.eks import access, addon_versions, addons, cluster, cluster_updates, node_groups
from emulator.aws.fsx import api as fsx_api
from emulator.aws.fsx import file_system
from emulator.aws.iam import evaluation, simulation
from emulator.aws.sagemaker import api as sagemaker_api
from emulator.aws.sagemaker import cluster as sagemaker_cluster
from emulator.aws.settings import Settings

RESOURCE_TYPES = (
    budgets.BUDGET,
    routing.ELASTIC_IP,
    traffic.FLOW_LOG,
    routing.NAT_GATEWAY,
    traffic.EGRESS,
    traffic.INGRESS,
    oidc_providers.OIDC_PROVIDER,
    access.ACCESS_ENTRY,
    addons.ADDON,
    access.POD_IDENTITY_ASSOCIATION,
    node_groups.NODE_GROUP,
    launches.PLACEMENT_GROUP,
    fsx_api.DATA_REPOSITORY_ASSOCIATION,
    file_system.FILE_SYSTEM,
    grafana.WORKSPACE,
    prometheus.RULES,
    prometheus.WORKSPACE,
    messages.SLACK_CHANNEL,
    *dns_firewall.RESOURCE_TYPES,
)


def install(*, settings: Settings) -> None:
    """Register resource types and services, and repair what differs from AWS."""
    evaluation.install_service_models()
    evaluation.install_secure_transport()
    evaluation.install_managed_policies()
    evaluation.install_principal_arn()
    evaluation.install_resource_arn()
    simulation.install_simulation()
    evaluation.install_read_policies()
    evaluation.install_allowed_calls(file=settings.allowed_calls)
    zones.install_availability_zones()
    subnets.install_cidr_block()
    _install_capacity(settings)
    subnets.install_subnet()
    vpc_endpoints.install_endpoint_services()
    vpc_endpoints.install_vpc_endpoint()
    routing.install()
    buckets.install_bucket_owners()
    container_images.install_missing_images()
    encryption.install_log_groups()
    encryption.install_keys()
    encryption.install_bucket_encryption()
    _install_eks(settings)
    for resource_type in RESOURCE_TYPES:
        resource_type.register()
    fsx_api.install()
    _install_observability()
    sagemaker_api.install(settings=settings)
    sagemaker_cluster.resource_type(settings).register()
    templates.install_described_type()
    templates.install_regional_types(settings=settings)
    templates.install_taken_names()
    updates.install_replacement()
    service_role.install()
    templates.install_stored_parameters()
    templates.install_exports()
    templates.install_condition_values()
    failures.install_cancelled_update()
    traffic.install_default_groups()
    rds.install()
    network_dependencies.install(settings=settings)
    own_network.install()
    failures.install_custom_resource_rollback()
    functions.install_execution_input()
    failures.install_failed_deletion()
    failures.install_failed_rollback()
    express_mode.install(settings=settings)
    failures.install_failing_step(settings=settings)
    functions.install_lambda_layers(copies=settings.archives)
    functions.install_vpc_functions()
    messages.install(file=settings.messages)


def _install_capacity(settings: Settings) -> None:
    zones.install_instance_offerings(settings=settings)
    capacity.install(settings=settings)
    service_quotas.install(settings=settings)


def _install_observability() -> None:
    prometheus.install()
    grafana.install()
    alarms.install()


def _install_eks(settings: Settings) -> None:
    access.install()
    access.install_authorization()
    cluster.install_cluster(settings=settings)
    cluster_updates.install_cluster_subnets()
    cluster_updates.install_cluster_version()
    access.install_authentication_mode()
    # The last, so that it is asked first.
    cluster.install_dropped_properties()
    addon_versions.install_addon_versions()
    addons.install_addon_health(settings=settings)
    launches.install_interface_types()
    node_groups.install(settings=settings)

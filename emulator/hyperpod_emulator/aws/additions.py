"""Everything this package adds to MiniStack."""

from hyperpod_emulator.aws import (
    alarms,
    authentication,
    buckets,
    budgets,
    container_images,
    encryption,
    functions,
    grafana,
    log_events,
    messages,
    network_dependencies,
    oidc_providers,
    prometheus,
    rds,
    service_quotas,
    tables,
)
from hyperpod_emulator.aws.cloudformation import (
    change_sets,
    express_mode,
    failures,
    service_role,
    templates,
    updates,
)
from hyperpod_emulator.aws.ec2 import (
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
from hyperpod_emulator.aws.eks import (
    access,
    addon_versions,
    addons,
    cluster,
    cluster_updates,
    node_groups,
)
from hyperpod_emulator.aws.fsx import api as fsx_api
from hyperpod_emulator.aws.fsx import file_system
from hyperpod_emulator.aws.iam import evaluation, simulation
from hyperpod_emulator.aws.sagemaker import api as sagemaker_api
from hyperpod_emulator.aws.sagemaker import cluster as sagemaker_cluster

RESOURCE_TYPES = (
    budgets.BUDGET,
    routing.ELASTIC_IP,
    traffic.FLOW_LOG,
    routing.NAT_GATEWAY,
    subnets.CIDR_BLOCK,
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
    sagemaker_cluster.CLUSTER,
    *dns_firewall.RESOURCE_TYPES,
)


_MODULES = (
    evaluation,
    simulation,
    zones,
    subnets,
    capacity,
    service_quotas,
    vpc_endpoints,
    dns_firewall,
    routing,
    buckets,
    container_images,
    encryption,
    tables,
    access,
    cluster_updates,
    cluster,
    addon_versions,
    addons,
    launches,
    node_groups,
    fsx_api,
    prometheus,
    grafana,
    alarms,
    sagemaker_api,
    templates,
    updates,
    service_role,
    traffic,
    rds,
    network_dependencies,
    own_network,
    failures,
    change_sets,
    express_mode,
    functions,
    log_events,
    messages,
    authentication,
)
"""In their order: what is put in a function's place later is called first."""


def install() -> None:
    """Register resource types and services, and repair what differs from AWS."""
    for resource_type in RESOURCE_TYPES:
        resource_type.register()
    for module in _MODULES:
        module.install()

"""The validators, in the order in which they are shown."""

from collections.abc import Mapping

from hyperpod_cli.inspect.preflight.bootstrap import bootstrap
from hyperpod_cli.inspect.preflight.capacity.instance_offerings import instance_offerings
from hyperpod_cli.inspect.preflight.capacity.training_plans import training_plans
from hyperpod_cli.inspect.preflight.client_tools import client_tools
from hyperpod_cli.inspect.preflight.control_plane.existing_control_plane import (
    existing_control_plane,
)
from hyperpod_cli.inspect.preflight.control_plane.failed_creation import failed_creation
from hyperpod_cli.inspect.preflight.control_plane.kubernetes_support import kubernetes_support
from hyperpod_cli.inspect.preflight.control_plane.kubernetes_version import kubernetes_version
from hyperpod_cli.inspect.preflight.control_plane.left_out_properties import left_out_properties
from hyperpod_cli.inspect.preflight.existing_bucket import existing_bucket
from hyperpod_cli.inspect.preflight.helm_chart import helm_chart
from hyperpod_cli.inspect.preflight.hyperpod_api import hyperpod_api, resource_types
from hyperpod_cli.inspect.preflight.kms_key import kms_key
from hyperpod_cli.inspect.preflight.network.cidr_blocks import cidr_blocks
from hyperpod_cli.inspect.preflight.network.endpoint_services import endpoint_services
from hyperpod_cli.inspect.preflight.network.gateways import gateways
from hyperpod_cli.inspect.preflight.network.security_group import security_group
from hyperpod_cli.inspect.preflight.network.subnets import subnets
from hyperpod_cli.inspect.preflight.network.vpc import vpc
from hyperpod_cli.inspect.preflight.network.zones import zones
from hyperpod_cli.inspect.preflight.node_role.existing_role import existing_role
from hyperpod_cli.inspect.preflight.quotas.needs import cluster_quotas, network_quotas
from hyperpod_cli.inspect.preflight.storage.existing_file_systems import existing_file_systems
from hyperpod_cli.inspect.preflight.storage.file_system_changes import file_system_changes
from hyperpod_cli.inspect.preflight.storage.storage_stack import storage_stack
from hyperpod_cli.inspect.preflight.taken_names import taken_names
from hyperpod_cli.inspect.preflight.validator import Validator

VALIDATORS: Mapping[str, Validator] = {
    "client-tools": client_tools,
    "bootstrap": bootstrap,
    "hyperpod-api": hyperpod_api,
    "resource-types": resource_types,
    "helm-chart": helm_chart,
    "kubernetes-version": kubernetes_version,
    "kubernetes-support": kubernetes_support,
    "failed-creation": failed_creation,
    "left-out-properties": left_out_properties,
    "storage-stack": storage_stack,
    "taken-names": taken_names,
    "vpc": vpc,
    "zones": zones,
    "instance-offerings": instance_offerings,
    "training-plans": training_plans,
    "cluster-quotas": cluster_quotas,
    "network-quotas": network_quotas,
    "cidr-blocks": cidr_blocks,
    "subnets": subnets,
    "gateways": gateways,
    "endpoint-services": endpoint_services,
    "security-group": security_group,
    "existing-control-plane": existing_control_plane,
    "existing-bucket": existing_bucket,
    "existing-role": existing_role,
    "existing-file-systems": existing_file_systems,
    "file-system-changes": file_system_changes,
    "kms-key": kms_key,
}
"""By name, which is what `--skip` takes."""

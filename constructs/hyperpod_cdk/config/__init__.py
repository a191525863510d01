"""The configuration of a deployment: one YAML file, checked before anything is built."""

from hyperpod_cdk.config.cluster import ClusterConfig
from hyperpod_cdk.config.components import ComponentsConfig
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.eks import EksConfig
from hyperpod_cdk.config.faults import ConfigError
from hyperpod_cdk.config.helm import HelmConfig
from hyperpod_cdk.config.instance_group import InstanceGroupConfig
from hyperpod_cdk.config.loading import load_config
from hyperpod_cdk.config.network import HyperPodSubnetConfig, NetworkConfig
from hyperpod_cdk.config.priority_classes import PriorityClassConfig
from hyperpod_cdk.config.restricted_instance_group import RestrictedInstanceGroupConfig
from hyperpod_cdk.config.storage import StorageConfig

__all__ = [
    "ClusterConfig",
    "ComponentsConfig",
    "Config",
    "ConfigError",
    "EksConfig",
    "HelmConfig",
    "HyperPodSubnetConfig",
    "InstanceGroupConfig",
    "NetworkConfig",
    "PriorityClassConfig",
    "RestrictedInstanceGroupConfig",
    "StorageConfig",
    "load_config",
]

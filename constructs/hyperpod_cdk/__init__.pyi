from .config.config import Config as Config
from .deletion_check.deletion_check import DeletionCheck as DeletionCheck
from .eks.addons import EksAddons as EksAddons
from .eks.cluster import EksCluster as EksCluster
from .eks.section import EksConfig as EksConfig
from .helm.components.section import ComponentsConfig as ComponentsConfig
from .helm.dependencies import HyperPodDependencies as HyperPodDependencies
from .helm.priority_classes.priority_classes import PriorityClasses as PriorityClasses
from .helm.priority_classes.section import PriorityClassConfig as PriorityClassConfig
from .helm.release import HelmRelease as HelmRelease
from .helm.section import HelmConfig as HelmConfig
from .hyperpod.autoscaling_role import AutoScalingRole as AutoScalingRole
from .hyperpod.cluster import HyperPodCluster as HyperPodCluster
from .hyperpod.execution_role import ExecutionRole as ExecutionRole
from .hyperpod.instance_group import InstanceGroupConfig as InstanceGroupConfig
from .hyperpod.instance_storage import EbsVolumeConfig as EbsVolumeConfig
from .hyperpod.instance_storage import FsxLustreMountConfig as FsxLustreMountConfig
from .hyperpod.instance_storage import FsxOpenZfsMountConfig as FsxOpenZfsMountConfig
from .hyperpod.kinds import hyperpod_cluster as hyperpod_cluster
from .hyperpod.kubernetes import TaintConfig as TaintConfig
from .hyperpod.lifecycle import LifecycleConfig as LifecycleConfig
from .hyperpod.native_cluster import NativeHyperPodCluster as NativeHyperPodCluster
from .hyperpod.node_group import OverrideVpcConfig as OverrideVpcConfig
from .hyperpod.orchestrator import Eks as Eks
from .hyperpod.orchestrator import Orchestrator as Orchestrator
from .hyperpod.restricted_instance_group import (
    RestrictedInstanceGroupConfig as RestrictedInstanceGroupConfig,
)
from .hyperpod.restricted_instance_group import SharedEnvironmentConfig as SharedEnvironmentConfig
from .hyperpod.rolling_update import BatchSizeConfig as BatchSizeConfig
from .hyperpod.rolling_update import RollingUpdateConfig as RollingUpdateConfig
from .hyperpod.section import ClusterConfig as ClusterConfig
from .hyperpod.section import TieredStorageConfig as TieredStorageConfig
from .hyperpod.software_update import AutoPatchConfig as AutoPatchConfig
from .hyperpod.software_update import DrainConfig as DrainConfig
from .hyperpod.software_update import ScheduledUpdateConfig as ScheduledUpdateConfig
from .lifecycle_scripts.bucket import LifecycleBucket as LifecycleBucket
from .lifecycle_scripts.scripts import LifecycleScripts as LifecycleScripts
from .lifecycle_scripts.section import LifecycleScriptsConfig as LifecycleScriptsConfig
from .loading import load_config as load_config
from .network.network import Network as Network
from .network.network import NodeSubnets as NodeSubnets
from .network.section import HyperPodSubnetConfig as HyperPodSubnetConfig
from .network.section import NetworkConfig as NetworkConfig
from .network.security_group import ClusterSecurityGroup as ClusterSecurityGroup
from .provisioner.access import ProvisionerAccess as ProvisionerAccess
from .provisioner.provisioner import Provisioner as Provisioner
from .provisioner.provisioner import VpcPlacement as VpcPlacement
from .schema.errors import ConfigError as ConfigError
from .storage.availability import FileSystemAvailability as FileSystemAvailability
from .storage.lustre import Lustre as Lustre
from .storage.section import StorageConfig as StorageConfig
from .synthesis.sizes import TooLargeError as TooLargeError

__version__: str

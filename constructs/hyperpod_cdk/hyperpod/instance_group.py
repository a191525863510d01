"""Groups of nodes: those that anyone may use, and restricted ones."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field

from hyperpod_cdk.facts import mig
from hyperpod_cdk.hyperpod.group_types import OneTypeConfig, SeveralTypesConfig
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults, InstanceCount, NodeGroupConfig
from hyperpod_cdk.hyperpod.node_settings import Labels, LifecycleConfig, TaintConfig, encrypted
from hyperpod_cdk.hyperpod.software_update import AutoPatchConfig, rolls_back_on_alarms
from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits
from hyperpod_cdk.schema.section import EKS, SLURM, Api, Listed, OrchestratedBy, Section
from hyperpod_cdk.slurm.section import SlurmNodesConfig

# Members of the API's ClusterCapacityRequirements.
DEFAULT_IMAGE = "default"
"""The ImageId of HyperPod's own latest AMI."""


ImageId = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.ImageId", noun="an AMI such as ami-0123456789abcdef0 (or `default`)"
    ),
]

InterfaceType = Annotated[
    str, ApiLimits(shape_name="sagemaker.ClusterInterfaceType", noun="a type of network interface")
]


class InstanceGroupConfig(NodeGroupConfig, SeveralTypesConfig):
    """A group of identical instances."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["instance_type"]}, {"required": ["instance_types"]}]
        }
    )

    min_instance_count: Annotated[InstanceCount | None, Api("MinInstanceCount")] = None
    """Fewest instances with which the group starts; with fewer after three hours, HyperPod rolls
    the group back. Needs continuous provisioning. Default: none."""

    capacity: Literal["OnDemand", "Spot"] | None = None
    """OnDemand, or Spot: cheaper, and interrupted with two minutes' notice. Default: HyperPod's,
    OnDemand."""

    lifecycle: Annotated[
        LifecycleConfig | None,
        Api("LifeCycleConfig"),
        Field(
            examples=[{"source_s3_uri": "s3://sagemaker-others/scripts", "on_create": "setup.sh"}]
        ),
    ] = LifecycleConfig()
    """The script that nodes run when they are created; null for none but the AMI's own setup.
    Default: as lifecycle_scripts says."""

    image_id: Annotated[
        ImageId | None, Api("ImageId"), Field(examples=["ami-0fedcba9876543210"])
    ] = None
    """AMI of your own, made from a HyperPod AMI in this account, or `default` for HyperPod's
    latest. Default: HyperPod's latest."""

    image_release_version: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ImageReleaseVersion", noun="a HyperPod AMI release such as 1.2.3"
        ),
        Api("ImageReleaseVersion"),
        Field(examples=["2.3.4"]),
    ] = None
    """Release of the HyperPod AMI, such as 1.2.3. Default: the latest."""

    auto_patch: Annotated[AutoPatchConfig | None, Api("AutoPatchConfig")] = None
    """Patch releases of the AMI, applied as they come. Default: none."""

    labels: Annotated[
        Labels,
        OrchestratedBy(EKS),
        Api("KubernetesConfig.Labels"),
        Field(examples=[{"example.com/team": "other"}]),
    ] = Field(default_factory=dict)
    """Kubernetes labels of the nodes, at most 50. Default: none."""

    taints: Annotated[
        Listed[TaintConfig],
        ListLimits(shape_name="sagemaker.ClusterKubernetesTaints", noun="taints"),
        OrchestratedBy(EKS),
        Api("KubernetesConfig.Taints"),
        Field(examples=[[{"key": "example.com/other", "effect": "NoSchedule"}]]),
    ] = ()
    """Kubernetes taints of the nodes, at most 50; pods of the Helm chart, device plugins among
    them, then need tolerations. Default: none."""

    mig_profile: Annotated[str | None, OrchestratedBy(EKS), Field(examples=["all-1g.10gb"])] = None
    """Layout of the partitions (MIG) that the GPU operator creates on each GPU, such as all-1g.5gb;
    nodes get it as the label nvidia.com/mig.config. Needs helm.components.gpu_operator and
    continuous provisioning. Default: none, pods get whole GPUs."""

    slurm: Annotated[
        SlurmNodesConfig | None,
        OrchestratedBy(SLURM),
        Api("SlurmConfig"),
        Field(examples=[{"node_type": "compute", "partition": "gpu"}]),
    ] = None
    """What the nodes are in Slurm, for each group of a cluster that Slurm orchestrates. Default:
    none."""

    network_interface_type: Annotated[
        InterfaceType | None, Api("NetworkInterface.InterfaceType")
    ] = None
    """efa: further network cards carry EFA and IP. efa-only: only EFA, which saves IP addresses.
    Default: HyperPod's."""

    @property
    def is_spot(self) -> bool:
        """Whether the group's nodes are Spot Instances."""
        return self.capacity == "Spot"

    @property
    def node_labels(self) -> Mapping[str, str]:
        """The Kubernetes labels of the nodes, that of the partitions of their GPUs among them."""
        profile = self.mig_profile
        return self.labels if profile is None else {**self.labels, mig.LABEL: profile}

    @property
    def rolls_back_on_alarms(self) -> bool:
        """Whether CloudWatch alarms roll an update of the AMI back."""
        return super().rolls_back_on_alarms or rolls_back_on_alarms(self.auto_patch)

    @property
    def own_scripts(self) -> OwnScriptsConfig | None:
        """The folder of scripts that its nodes run, and no others; None without one."""
        lifecycle = self.lifecycle
        return None if lifecycle is None or lifecycle.directory is None else lifecycle

    @property
    def runs_scripts_of_deployment(self) -> bool:
        """Whether its nodes run the scripts of every node, not others or none."""
        lifecycle = self.lifecycle
        return lifecycle is not None and lifecycle.source_s3_uri is None and not self.own_scripts

    def filled_in(self, defaults: ClusterDefaults) -> Self:
        """Return the group with what it takes from its cluster, the scripts included.

        Raises:
            ValueError: There is no subnet in the group's zone, or nothing puts its folder of
                scripts into a bucket.
        """
        group = super().filled_in(defaults)
        if self.runs_scripts_of_deployment:
            return group.model_copy(update={"lifecycle": defaults.lifecycle})
        if self.own_scripts is None:
            return group
        if defaults.lifecycle_in is None:
            raise ValueError(
                f"group {self.name}: lifecycle.directory needs lifecycle_scripts, which puts it "
                "into a bucket"
            )
        return group.model_copy(update={"lifecycle": defaults.lifecycle_in(self.own_scripts)})

    def with_volume_key(self, key_arn: str) -> Self:
        """Return the group with a KMS key for each volume that names none, the root volume too.

        Args:
            key_arn: ARN of the key; may be a CDK token.
        """
        volumes = encrypted(self.volumes, key_arn=key_arn)
        return self.model_copy(update={"volume_size_gib": None, "ebs_volumes": volumes})

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterInstanceGroupSpecification."""
        request = super().to_request()
        if self.node_labels:
            labels = dict(sorted(self.node_labels.items()))
            request.setdefault("KubernetesConfig", {})["Labels"] = labels
        if self.capacity is not None:
            # A union: the member's name says which, and it is empty.
            request["CapacityRequirements"] = {self.capacity: {}}
        return request

    def _findings(self) -> Iterator[Finding]:
        least = self.min_instance_count
        if least is not None and least > self.instance_count:
            message = f"must be at most instance_count ({self.instance_count})"
            yield Finding(path=("min_instance_count",), value=least, message=message)


class RestrictedFileSystemConfig(Section):
    """An FSx for Lustre file system that HyperPod makes for restricted instance groups."""

    size_gib: Annotated[
        int,
        ApiLimits(shape_name="sagemaker.FSxLustreSizeInGiB", noun="a size in GiB"),
        Api("SizeInGiB"),
    ]
    """Size in GiB, 1200 to 100800."""

    per_unit_storage_throughput: Annotated[
        int,
        ApiLimits(
            shape_name="sagemaker.FSxLustrePerUnitStorageThroughput",
            noun="a throughput in MB/s per TiB",
        ),
        Api("PerUnitStorageThroughput"),
    ]
    """Throughput in MB/s for each TiB of size, 125 to 1000."""


class RestrictedEnvironmentConfig(Section):
    """The environment of one restricted instance group."""

    fsx_lustre: Annotated[RestrictedFileSystemConfig | None, Api("FSxLustreConfig")] = None
    """File system of the group. Default: none."""


class SharedEnvironmentConfig(Section):
    """The environment that all restricted instance groups share."""

    fsx_lustre: Annotated[RestrictedFileSystemConfig, Api("FSxLustreConfig")]
    """File system of the groups."""

    fsx_lustre_deletion_policy: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.ClusterFSxLustreDeletionPolicy", noun="a deletion policy"),
        Api("FSxLustreDeletionPolicy"),
    ]
    """Keep, or DeleteIfNotUsed: whether the file system is kept after the groups are deleted."""


class RestrictedInstanceGroupConfig(NodeGroupConfig, OneTypeConfig):
    """A group of identical instances in a restricted environment, to train such models as Nova."""

    environment: Annotated[RestrictedEnvironmentConfig | None, Api("EnvironmentConfig")] = None
    """Environment of this group alone. Default: the shared one."""

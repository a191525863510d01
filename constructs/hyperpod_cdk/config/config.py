"""The whole configuration of a deployment."""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from hyperpod_cdk.config.closed_namespaces import CLOSED_NAMESPACES
from hyperpod_cdk.config.places import location_findings, network_findings, unnamed_zone_findings
from hyperpod_cdk.config.slurm_scripts import slurm_scripts
from hyperpod_cdk.eks.section import (
    DAEMON_SET_ADDONS,
    DNS_ADDON,
    FSX_ADDON,
    EditorsConfig,
    EksConfig,
)
from hyperpod_cdk.encryption.section import EncryptionConfig
from hyperpod_cdk.facts.service_limits import LogRetentionDays
from hyperpod_cdk.governance.section import GovernanceConfig
from hyperpod_cdk.helm.components import ComponentsConfig
from hyperpod_cdk.helm.images import image_of_chart, mirrored
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder, homes
from hyperpod_cdk.lifecycle_scripts.section import LifecycleScriptsConfig
from hyperpod_cdk.network.endpoint_services import EndpointService, endpoint_services
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.node_health.section import NodeHealthConfig
from hyperpod_cdk.observability.section import (
    CLOUDWATCH_ADDON,
    IN_CLUSTER,
    MANAGED,
    METRICS_ADDON,
    ObservabilityConfig,
)
from hyperpod_cdk.operators.section import OperatorsConfig
from hyperpod_cdk.schema.arns import DeploymentName, Region
from hyperpod_cdk.schema.errors import KeyPath, refuse
from hyperpod_cdk.schema.limits import same_names
from hyperpod_cdk.schema.section import (
    EKS,
    SLURM,
    Listed,
    OfHyperPod,
    OrchestratedBy,
    Section,
    findings_of,
    judged,
)
from hyperpod_cdk.schema.tags import Tags
from hyperpod_cdk.schema.yaml_file import text_findings
from hyperpod_cdk.storage.section import StorageConfig
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.teams.section import TeamConfig, team_findings
from hyperpod_cdk.workloads.section import WorkloadsConfig
from hyperpod_shared.governance import ADDON as TASK_GOVERNANCE

SAGEMAKER = "sagemaker"
"""Not in the name of a deployment."""


def _or_null(schema: dict[str, Any]) -> None:
    """Allow null as well as a section, as it does in the schema of an optional one."""
    schema["anyOf"] = [{"$ref": schema.pop("$ref")}, {"type": "null"}]


class Config(Section):
    """A deployment: network, Kubernetes control plane, storage and HyperPod cluster."""

    name: DeploymentName
    """Name of the deployment, the prefix of its stack names, such as `<name>-platform`. 1 to 20
    lower-case letters, digits and inner hyphens."""

    region: Annotated[Region | None, Field(examples=["us-east-1", "us-east-2"])] = None
    """AWS region, such as us-west-2. Default: that of the CDK environment."""

    network: NetworkConfig = NetworkConfig()
    """VPC, subnets and availability zones."""

    eks: Annotated[EksConfig, OrchestratedBy(EKS)] = EksConfig()
    """The Kubernetes control plane."""

    storage: Annotated[StorageConfig | None, Field(examples=[{}])] = StorageConfig()
    """The shared FSx for Lustre file system; null for none."""

    helm: Annotated[HelmConfig, OrchestratedBy(EKS)] = HelmConfig()
    """The Helm release of HyperPod's dependencies."""

    lifecycle_scripts: Annotated[LifecycleScriptsConfig, OfHyperPod()] = LifecycleScriptsConfig()
    """The scripts that new nodes run."""

    encryption: EncryptionConfig = EncryptionConfig()
    """A customer managed KMS key, and what it encrypts. Default: keys of AWS."""

    termination_protection: bool = False
    """Whether CloudFormation refuses to delete the platform stack until this is false again. The
    storage stack is protected by itself. Default: false."""

    log_retention_days: LogRetentionDays | None = None
    """How many days CloudWatch keeps the logs of the control plane, the VPC, the provisioner,
    containers and nodes, and S3 the access logs of the lifecycle bucket. Default: 30 for the VPC,
    containers and nodes, 90 for the others."""

    cluster: Annotated[ClusterConfig, Field(json_schema_extra=_or_null)]
    """The HyperPod cluster; null for none, with node_groups alone."""

    node_groups: Annotated[
        Listed[ManagedNodeGroupConfig],
        judged(same_names),
        OrchestratedBy(EKS),
        Field(examples=[[{"name": "gpu", "instance_types": ["g5.12xlarge"], "desired_size": 1}]]),
    ] = ()
    """Node groups of EC2 instances that EKS manages, next to HyperPod's nodes. Default: none."""

    operators: Annotated[OperatorsConfig, OrchestratedBy(EKS)] = OperatorsConfig()
    """Operators on the nodes; each can be turned on. Default: none but those of helm.components."""

    teams: Annotated[
        Listed[TeamConfig],
        judged(team_findings),
        OrchestratedBy(EKS),
        Field(examples=[[{"name": "research"}]]),
    ] = ()
    """Teams that share the cluster, apart from each other. Default: none."""

    governance: Annotated[
        GovernanceConfig | None, OrchestratedBy(EKS), OfHyperPod(), Field(examples=[{}])
    ] = None
    """Priorities of jobs, and how teams with quotas share idle compute. Default: none."""

    observability: ObservabilityConfig = ObservabilityConfig()
    """Metrics, dashboards and messages; each can be turned on. Default: none."""

    node_health: Annotated[NodeHealthConfig | None, OrchestratedBy(EKS), OfHyperPod()] = None
    """Your own health check on each node with GPUs or Trainium. Default: none."""

    workloads: Annotated[WorkloadsConfig | None, Field(examples=[{}])] = None
    """A repository for training images, and a build that fills it. Default: none."""

    tags: Annotated[Tags, Field(examples=[{"team": "other"}])] = Field(default_factory=dict)
    """Tags for every resource, at most 43. Default: none."""

    @property
    def control_plane(self) -> EksConfig | None:
        """The Kubernetes control plane; None without one."""
        return self.eks if self.cluster.orchestrator == EKS else None

    @property
    def eks_of_teams(self) -> EksConfig:
        """The section `eks`, with the namespaces of teams among those of its editors."""
        editors = tuple(entry for _, entry in self.editors)
        return self.eks.model_copy(update={"editors": editors})

    @property
    def editors(self) -> tuple[tuple[KeyPath, EditorsConfig], ...]:
        """Who runs jobs in which namespaces, those of teams last, each with its key."""
        return (
            *((("eks", "editors", index), each) for index, each in enumerate(self.eks.editors)),
            *((("teams", index), each.access) for index, each in enumerate(self.teams)),
        )

    @property
    def storage_of_teams(self) -> StorageConfig | None:
        """The section `storage`, with the claims of teams last among its own."""
        if self.storage is None:
            return None
        claims = (*self.storage.claims, *(claim for team in self.teams for claim in team.claims))
        return self.storage.model_copy(update={"claims": claims})

    @property
    def governed_teams(self) -> tuple[TeamConfig, ...]:
        """The teams with quotas."""
        return tuple(team for team in self.teams if team.quota)

    @property
    def makes_control_plane(self) -> bool:
        """Whether the deployment makes the Kubernetes control plane."""
        return self.control_plane is not None and not self.control_plane.is_existing

    @property
    def needs_official_chart(self) -> bool:
        """Whether the official chart of the HyperPod dependencies is installed."""
        return self.control_plane is not None and self.helm.chart is None

    @property
    def provisioner_in_network(self) -> bool:
        """Whether the provisioner is in the VPC: not everybody reaches the Kubernetes API."""
        plane = self.control_plane
        return plane is not None and not plane.is_reachable_from_anywhere

    @property
    def eks_cluster_name(self) -> str:
        """Name of the EKS cluster: an existing one's, the configured or a derived one."""
        if self.eks.cluster_arn is not None:
            return self.eks.cluster_arn.rpartition("/")[2]
        return self.eks.cluster_name or f"{self.name}-eks"

    @property
    def scripts_prefix(self) -> str:
        """What the keys of the lifecycle scripts begin with; empty at the top of their bucket."""
        scripts = self.lifecycle_scripts
        default = "" if scripts.existing_bucket_name is None else f"hyperpod/{self.name}"
        return default if scripts.prefix is None else scripts.prefix

    @property
    def makes_accounting(self) -> bool:
        """Whether the deployment makes the database of Slurm's accounting."""
        return self.cluster.accounting is not None and not self.cluster.accounting.exists

    @property
    def data_goes_with_stack(self) -> bool:
        """Whether the storage stack may be deleted without a second thought, with all data."""
        accounting = self.cluster.accounting if self.makes_accounting else None
        return (self.storage is None or self.storage.is_deleted_with_stack) and (
            accounting is None or accounting.delete_with_stack
        )

    @property
    def project_scripts(self) -> ScriptFolder:
        """The project's lifecycle scripts, with what they read of the deployment."""
        if self.control_plane is None:
            return slurm_scripts(cluster=self.cluster, storage=self.storage)
        stops = self.storage is not None and self.storage.stop_nodes_without_lustre
        return ScriptFolder(
            directory=asset_directory("lifecycle") / "eks",
            settings={"LUSTRE_FAILURE": "stop" if stops else "warn"},
        )

    @property
    def runs_project_scripts(self) -> bool:
        """Whether nodes of some group run the project's scripts, alone or before others."""
        return any(
            not group.own_scripts.runs_own_scripts_alone
            if group.own_scripts is not None
            else group.runs_scripts_of_deployment
            and not self.lifecycle_scripts.runs_own_scripts_alone
            for group in self.cluster.instance_groups
        )

    @property
    def script_folders(self) -> list[list[ScriptFolder]]:
        """The lifecycle scripts that nodes get together, those of every node first."""
        return homes(
            self.project_scripts,
            own=self.lifecycle_scripts,
            folders=self.cluster.own_scripts,
            prefix=self.scripts_prefix,
        )

    @property
    def instance_types(self) -> tuple[str, ...]:
        """Every type that a node may have, each once: HyperPod's names, then EC2's."""
        of_groups = (name for group in self.node_groups for name in group.instance_types)
        return tuple(dict.fromkeys((*self.cluster.instance_types, *of_groups)))

    @property
    def needs_fsx_csi_driver(self) -> bool:
        """Whether pods mount FSx for Lustre, or the inference operator looks for its driver."""
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-ts-cli.html
        return self.storage is not None or self.operators.inference_operator

    @property
    def addons_that_need_nodes(self) -> tuple[str, ...]:
        """The EKS add-ons that the deployment installs next to the cluster: DNS, the FSx driver."""
        if self.control_plane is None:
            return ()
        wanted = (DNS_ADDON, FSX_ADDON) if self.needs_fsx_csi_driver else (DNS_ADDON,)
        # On an existing cluster, the driver may also serve file systems of others.
        return self.eks.addons_among((DNS_ADDON, FSX_ADDON) if self.eks.is_existing else wanted)

    @property
    def addons_after_nodes(self) -> tuple[str, ...]:
        """The EKS add-ons that are installed when there is a node, in their order."""
        if self.control_plane is None:
            return ()
        metrics = () if self.observability.prometheus is None else (METRICS_ADDON,)
        governance = () if self.governance is None else (TASK_GOVERNANCE,)
        return (*(addon.name for addon in self.operators.addons), *governance, *metrics)

    @property
    def closed_namespaces(self) -> tuple[str, ...]:
        """The namespaces of charts and add-ons, also of those that may be installed later."""
        own = (self.helm.namespace, *self.helm.adopt_namespaces)
        return tuple(sorted({*own, *CLOSED_NAMESPACES}))

    @property
    def installed_addons(self) -> tuple[str, ...]:
        """The EKS add-ons that the deployment installs."""
        if self.control_plane is None:
            return ()
        return (
            *self.eks.addons_among(DAEMON_SET_ADDONS),
            *self.addons_that_need_nodes,
            *(() if self.observability.cloudwatch is None else (CLOUDWATCH_ADDON,)),
            *self.addons_after_nodes,
        )

    @property
    def builds_in_network(self) -> bool:
        """Whether images are built in the VPC."""
        chosen = None if self.workloads is None else self.workloads.build_in_network
        return self.workloads is not None and (self.network.closed if chosen is None else chosen)

    @property
    def endpoint_services(self) -> tuple[EndpointService, ...]:
        """The services that a closed network reaches."""
        has = {
            "storage": self.storage is not None,
            "builds": self.builds_in_network,
            "hyperpod": self.cluster.exists,
            "kubernetes": self.control_plane is not None,
            "accounting": self.cluster.accounting is not None,
            "autoscaler": self.operators.cluster_autoscaler,
            "prometheus": self.observability.prometheus is not None,
            "managed_grafana": self.observability.grafana_of(MANAGED) is not None,
            "cloudwatch": self.observability.cloudwatch is not None,
        }
        return tuple(endpoint_services({need for need, is_there in has.items() if is_there}))

    @property
    def interface_endpoints(self) -> int:
        """How many interface endpoints a closed network has in each zone; 0 in any other."""
        services = self.endpoint_services if self.network.closed else ()
        return sum(not service.is_gateway for service in services)

    @property
    def grafana_image(self) -> str | None:
        """The image of the Grafana in the cluster, as it is pulled; None without one."""
        if self.observability.grafana_of(IN_CLUSTER) is None:
            return None
        return mirrored(image_of_chart("grafana"), registry=self.helm.image_registry)

    @property
    def repository_name(self) -> str | None:
        """Name of the repository of training images, and of the project that builds them."""
        return None if self.workloads is None else f"{self.name}-training"

    @cached_property
    def components(self) -> ComponentsConfig:
        """The components of the HyperPod dependencies, with every default filled in."""
        return self.helm.components_to_install(instance_types=self.instance_types)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_control_plane(cls, value: object) -> object:
        """Leave the subnets of a control plane out of the network of a cluster without one."""
        refuse(text_findings(value))
        if not isinstance(value, dict):
            return value
        cluster, network = value.get("cluster"), value.get("network", {})
        given = cluster if isinstance(cluster, dict) else getattr(cluster, "__dict__", {})
        if given.get("orchestrator") == SLURM and isinstance(network, dict):
            return {**value, "network": {"eks_subnet_cidrs": (), **network}}
        return value

    @field_validator("name")
    @classmethod
    def _check_name(cls, value: str) -> str:
        if SAGEMAKER in value:
            # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerFullAccess.html
            raise ValueError(
                f"must not contain {SAGEMAKER!r}: the deployment's functions carry the name, and "
                "AWS managed policies let their holders invoke every function with that word in "
                "its name; take another name, such as ml"
            )
        return value

    @field_validator("network", mode="wrap")
    @classmethod
    def _check_zones(
        cls, value: object, handler: Callable[[object], NetworkConfig], info: ValidationInfo
    ) -> NetworkConfig:
        # Wrapped, so that a finding elsewhere in the network does not hide a foreign zone.
        region = info.data.get("region")
        findings = list(network_findings(value, region=region))
        try:
            network = handler(value)
        except ValidationError as error:
            foreign = {finding.path for finding in findings}
            others = findings_of(error, model=NetworkConfig)
            refuse([*findings, *(finding for finding in others if finding.path not in foreign)])
            raise
        refuse([*findings, *unnamed_zone_findings(network, region=region)])
        return network

    @field_validator("cluster", mode="before")
    @classmethod
    def _name_cluster(cls, value: object, info: ValidationInfo) -> object:
        if value is None:
            return ClusterConfig.none()
        if isinstance(value, dict) and "name" not in value:
            # Without a valid deployment name the load fails anyway; do not report it twice.
            return {"name": f"{info.data.get('name', 'hyperpod')}-cluster", **value}
        return value

    @field_serializer("cluster", mode="wrap")
    def _null_for_none(
        self, value: ClusterConfig, handler: SerializerFunctionWrapHandler
    ) -> object:
        return handler(value) if value.exists else None

    @field_validator("*")
    @classmethod
    def _check_locations(cls, value: object, info: ValidationInfo) -> object:
        given = info.data
        refuse(location_findings(value, network=given.get("network"), region=given.get("region")))
        return value

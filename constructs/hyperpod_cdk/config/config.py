"""The whole configuration of a deployment."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from pydantic import (
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hyperpod_cdk.config.location_rules import location_findings
from hyperpod_cdk.config.tags import Tags
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.helm.components.section import ComponentsConfig
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.section import LifecycleScriptsConfig
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.network.subnet_rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.schema.arns import arn_findings
from hyperpod_cdk.schema.availability_zones import (
    NamedZone,
    foreign_zone_findings,
    region_findings,
)
from hyperpod_cdk.schema.environments import DeploymentName, Region
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.section import Section, findings_of
from hyperpod_cdk.schema.yaml_file import text_findings
from hyperpod_cdk.storage.section import StorageConfig

SAGEMAKER = "sagemaker"
"""Not in the name of a deployment."""


class Config(Section):
    """A deployment: network, Kubernetes control plane, storage and HyperPod cluster."""

    name: DeploymentName
    """Name of the deployment; the stacks are `<name>-platform`, `<name>-addons`, `<name>-storage`
    and `<name>-hyperpod`. 1 to 20 lower-case letters, digits and inner hyphens."""

    region: Region | None = None
    """AWS region, such as us-west-2. Default: that of the CDK environment."""

    network: NetworkConfig = NetworkConfig()
    """VPC, subnets and availability zones."""

    eks: EksConfig = EksConfig()
    """The Kubernetes control plane."""

    storage: StorageConfig | None = StorageConfig()
    """The shared FSx for Lustre file system; null for none."""

    helm: HelmConfig = HelmConfig()
    """The Helm release of HyperPod's dependencies."""

    lifecycle_scripts: LifecycleScriptsConfig = LifecycleScriptsConfig()
    """The scripts that new nodes run."""

    cluster: ClusterConfig
    """The HyperPod cluster."""

    tags: Tags = Field(default_factory=dict)
    """Tags for every resource, at most 46. Default: none."""

    @property
    def eks_cluster_name(self) -> str:
        """Name of the EKS cluster."""
        return f"{self.name}-eks"

    @cached_property
    def components(self) -> ComponentsConfig:
        """The components of the HyperPod dependencies, with every default filled in."""
        return self.helm.components_to_install(instance_types=self.cluster.instance_types)

    @model_validator(mode="before")
    @classmethod
    def _check_text(cls, value: object) -> object:
        refuse(text_findings(value))
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
        findings = list(region_findings(_zones_of(value), region=region))
        try:
            network = handler(value)
        except ValidationError as error:
            foreign = {finding.path for finding in findings}
            others = findings_of(error, model=NetworkConfig)
            refuse([*findings, *(finding for finding in others if finding.path not in foreign)])
            raise
        refuse([*findings, *_unnamed_zone_findings(network, region=region)])
        return network

    @field_validator("lifecycle_scripts")
    @classmethod
    def _check_writers(
        cls, value: LifecycleScriptsConfig, info: ValidationInfo
    ) -> LifecycleScriptsConfig:
        refuse(
            finding.under("writers", index)
            for index, arn in enumerate(value.writers)
            for finding in arn_findings(arn, region=info.data.get("region"))
        )
        return value

    @field_validator("eks")
    @classmethod
    def _check_arns(cls, value: EksConfig, info: ValidationInfo) -> EksConfig:
        refuse(_arn_findings(value, region=info.data.get("region")))
        return value

    @field_validator("storage")
    @classmethod
    def _check_storage_zone(
        cls, value: StorageConfig | None, info: ValidationInfo
    ) -> StorageConfig | None:
        network: NetworkConfig | None = info.data.get("network")
        if value is not None and value.availability_zone_id is not None and network is not None:
            why = ", for traffic between zones is billed"
            zones = network.hyperpod_zone_ids
            refuse(foreign_zone_findings(value.availability_zone_id, zones=zones, why=why))
        return value

    @field_validator("cluster", mode="before")
    @classmethod
    def _name_cluster(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, dict) and "name" not in value:
            # Without a valid deployment name the load fails anyway; do not report it twice.
            return {"name": f"{info.data.get('name', 'hyperpod')}-cluster", **value}
        return value

    @field_validator("cluster")
    @classmethod
    def _check_cluster(cls, value: ClusterConfig, info: ValidationInfo) -> ClusterConfig:
        network: NetworkConfig | None = info.data.get("network")
        zones = None if network is None else network.hyperpod_zone_ids
        refuse(location_findings(value, zones=zones, region=info.data.get("region")))
        return value


def _zones_of(network: object) -> Iterator[NamedZone]:
    """Yield every zone ID in a network that may be of the wrong form."""
    sections: Any = network.model_dump() if isinstance(network, NetworkConfig) else network
    if not isinstance(sections, dict):
        return
    zones = sections.get("availability_zone_ids")
    for index, zone in enumerate(zones if isinstance(zones, list | tuple) else ()):
        if isinstance(zone, str):
            yield ("availability_zone_ids", index), zone
    subnets = sections.get("hyperpod_subnets")
    for index, subnet in enumerate(subnets if isinstance(subnets, list | tuple) else ()):
        zone = subnet.get("availability_zone_id") if isinstance(subnet, dict) else None
        if isinstance(zone, str):
            yield ("hyperpod_subnets", index, "availability_zone_id"), zone


def _unnamed_zone_findings(network: NetworkConfig, *, region: str | None) -> Iterator[Finding]:
    """Find zones left to their names where one of them may be a zone that EKS refuses."""
    refused = [zone for zone, home in ZONES_WITHOUT_EKS.items() if home == region]
    if refused and network.availability_zone_ids is None:
        message = (
            f"is missing: name zones of {region} by ID, because EKS takes no subnet in "
            f"{refused[0]}, whose name differs from account to account"
        )
        yield Finding(path=("availability_zone_ids",), value=None, message=message)


def _arn_findings(eks: EksConfig, *, region: str | None) -> Iterator[Finding]:
    for index, arn in enumerate(eks.admins):
        for finding in arn_findings(arn, region=region):
            yield finding.under("admins", index)
    for finding in arn_findings(eks.secrets_kms_key_arn, region=region):
        yield finding.under("secrets_kms_key_arn")

"""What an orchestrator adds to the stacks of a deployment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.encryption.data_keys import DataKeys
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.network.imported import ImportedNetwork
from hyperpod_cdk.network.network import Network
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.claims import FileSystemAvailability
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig
from hyperpod_cdk.synthesis.logs import LogGroups


class Platform(Protocol):
    """What of the platform stack an orchestrator builds on; group and role are the nodes'.

    The controller of Slurm has a role of its own where it alone reads a secret.
    """

    network: Network | ImportedNetwork
    security_group: ec2.ISecurityGroup
    execution_role: iam.IRole
    controller_role: iam.IRole | None
    keys: DataKeys
    log_groups: LogGroups
    provisioner: Provisioner


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """A file system of the storage stack, with its section and where that is in the configuration.

    Claims of a StorageClass with the parameters of `provisioning` get such file systems.
    """

    files: LustreConfig | HomeDirectoriesConfig
    key: KeyPath
    identifier: str
    availability: FileSystemAvailability
    provisioning: Mapping[str, str] | None = None


class Orchestration(Protocol):
    """What an orchestrator adds to each stack: nothing, where it does not say so.

    What it takes of `stored` are outputs of the storage stack; there are none without one.
    """

    runs_helm: bool = False
    """Whether the provisioner runs helm."""

    @property
    def orchestrator(self) -> Orchestrator:
        """What the role of the nodes knows of it."""
        ...

    def of_cluster(self, stored: Mapping[str, str]) -> Orchestrator:
        """Return what the HyperPod cluster knows of it: the same, where nodes mount nothing."""
        return self.orchestrator

    def add_to_stack(self, stack: cdk.Stack) -> None:
        """Add what every stack has."""
        return

    def add_to_platform(self, scope: Construct, platform: Platform) -> None:
        """Add a control plane."""
        return

    @property
    def platform_outputs(self) -> Mapping[str, str]:
        """Outputs of the platform stack for the public create_config.sh."""
        return {}

    @property
    def token_issuer_url(self) -> str | None:
        """The OIDC issuer of a control plane that is made."""
        return None

    @property
    def further_outputs(self) -> Mapping[str, str]:
        """Its other outputs."""
        return {}

    def add_to_storage(self, scope: Construct, platform: Platform) -> Mapping[str, str]:
        """Add what lives as long as the files; return its outputs."""
        return {}

    def mount(
        self, scope: Construct, construct_id: str, file_system: FileSystem, *, platform: Platform
    ) -> None:
        """Have pods mount a file system."""
        return

    def add_before_cluster(
        self, scope: Construct, platform: Platform, *, stored: Mapping[str, str]
    ) -> Sequence[Construct]:
        """Add what nodes of the HyperPod stack need; return what they wait for."""
        return self.add_before_nodes(scope, platform)

    def add_before_nodes(self, scope: Construct, platform: Platform) -> Sequence[Construct]:
        """Add what nodes of a stack need, where it is not yet; return what they wait for."""
        return ()

    def add_after_nodes(self, scope: Construct, platform: Platform) -> None:
        """Add what guards the deletion of a stack with nodes, if it has what nodes need."""
        return

    def add_after_cluster(
        self, scope: Construct, platform: Platform, *, cluster: IDependable
    ) -> None:
        """Add what needs the cluster, and what guards the deletion of its stack."""
        return

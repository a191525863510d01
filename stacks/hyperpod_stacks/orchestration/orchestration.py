"""What an orchestrator adds to the stacks of a deployment."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

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


class Orchestration:
    """What an orchestrator adds to each stack: nothing, where it does not say so.

    Attributes:
        runs_helm: Whether the provisioner runs helm.
        stored: Outputs of the storage stack, once that is there.
    """

    runs_helm = False

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}

    @property
    def orchestrator(self) -> Orchestrator:
        """What the role of the nodes knows of it."""
        raise NotImplementedError

    @property
    def of_cluster(self) -> Orchestrator:
        """What the HyperPod cluster knows of it. Default: what the role of the nodes does."""
        return self.orchestrator

    def add_to_stack(self, stack: cdk.Stack) -> None:
        """Add what every stack has."""

    def add_to_platform(
        self,
        scope: Construct,
        *,
        network: Network | ImportedNetwork,
        security_group: ec2.ISecurityGroup,
        keys: DataKeys,
        log_groups: LogGroups,
        provisioner: Provisioner,
    ) -> None:
        """Add a control plane."""

    @property
    def platform_outputs(self) -> Mapping[str, str]:
        """Outputs of the platform stack for the public create_config.sh."""
        return {}

    @property
    def further_outputs(self) -> Mapping[str, str]:
        """Its other outputs."""
        return {}

    def add_to_storage(
        self,
        scope: Construct,  # noqa: ARG002
        *,
        network: Network | ImportedNetwork,  # noqa: ARG002
        security_group: ec2.ISecurityGroup,  # noqa: ARG002
        keys: DataKeys,  # noqa: ARG002
    ) -> Mapping[str, str]:
        """Add what lives as long as the files; return its outputs."""
        return {}

    def mount(
        self,
        scope: Construct,
        construct_id: str,
        *,
        files: LustreConfig | HomeDirectoriesConfig,
        key: KeyPath,
        file_system_id: str,
        availability: FileSystemAvailability,
        provisioner: Provisioner,
        provisioning: Mapping[str, str] | None = None,
    ) -> None:
        """Have pods mount a file system.

        Args:
            scope: The storage stack.
            construct_id: Id of what is added.
            files: Section of the file system.
            key: Where the section is in the configuration.
            file_system_id: The file system.
            availability: Its names, once it can be mounted.
            provisioner: Serves custom resources.
            provisioning: Parameters of a StorageClass whose claims get such file systems. Default:
                there is none.
        """

    def add_before_cluster(
        self,
        scope: Construct,  # noqa: ARG002
        *,
        provisioner: Provisioner,  # noqa: ARG002
        execution_role: iam.IRole,  # noqa: ARG002
    ) -> Sequence[Construct]:
        """Add what nodes need; return what they wait for."""
        return ()

    def add_after_cluster(self, scope: Construct, *, provisioner: Provisioner) -> None:
        """Add what guards the deletion of the cluster's stack."""

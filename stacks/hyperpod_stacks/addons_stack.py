"""What lives as long as the control plane, but needs nodes: DNS and the file system's driver."""

from constructs import Construct

from hyperpod_cdk.eks.addons import EksAddons
from hyperpod_cdk.eks.section import DNS_ADDON, FSX_ADDON
from hyperpod_cdk.storage.claims import FsxCsiDriverRole
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind


class AddonsStack(DeployedStack):
    """The EKS add-ons that need nodes; they wait for no HyperPod cluster."""

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, platform = stacks.config, stacks.of(PlatformStack)
        addons = EksAddons(
            self,
            "Addons",
            cluster=platform.eks_cluster,
            eks=config.eks,
            fsx_csi_driver=FSX_ADDON in config.addons_that_need_nodes,
            dns=DNS_ADDON in config.addons_that_need_nodes,
        )
        driver = addons.fsx_csi_driver
        if (
            driver is not None
            and config.storage is not None
            and config.storage.dynamic_provisioning
        ):
            role = FsxCsiDriverRole(
                self,
                "FsxCsiDriverRole",
                cluster=platform.eks_cluster,
                encryption_key=platform.keys.file_system,
            )
            # A pod gets the role, and the region, if the association is there before it starts.
            # https://docs.aws.amazon.com/eks/latest/userguide/pod-id-association.html
            driver.node.add_dependency(role)

"""What lives as long as the control plane, but needs nodes: DNS and the file system's driver."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.addons import EksAddons
from hyperpod_cdk.eks.section import DNS_ADDON, FSX_ADDON
from hyperpod_cdk.storage.claims import FsxCsiDriverRole
from hyperpod_stacks.platform_stack import PlatformStack


class AddonsStack(cdk.Stack):
    """The EKS add-ons that need nodes; they wait for no HyperPod cluster."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, stack_name=construct_id, **kwargs)
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

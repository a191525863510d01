"""EKS add-ons, each in the version that is pinned for the Kubernetes version."""

from aws_cdk import aws_eks_v2
from constructs import Construct

from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.synthesis.template_parameters import looked_up


class EksAddons(Construct):
    """The add-ons that need nodes: CoreDNS, and the CSI driver of FSx for Lustre.

    Until there are nodes for their pods, EKS says CREATING for up to 20 minutes and DEGRADED from
    then on, which CloudFormation takes as created. Keep them in a stack of their own, so that they
    outlive the nodes and nothing waits for them.

    Args:
        cluster: The EKS cluster.
        eks: The section that it was made from, for the Kubernetes version.
        fsx_csi_driver: Whether pods mount an FSx for Lustre file system.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: aws_eks_v2.ICluster,
        eks: EksConfig,
        fsx_csi_driver: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        addons = {"CoreDns": "coredns"}
        if fsx_csi_driver:
            addons["FsxCsiDriver"] = "aws-fsx-csi-driver"
        add_addons(self, addons, cluster=cluster, kubernetes_version=eks.version)


def add_addons(
    scope: Construct,
    addons: dict[str, str],
    *,
    cluster: aws_eks_v2.ICluster,
    kubernetes_version: str,
) -> None:
    """Add EKS add-ons to a cluster.

    Args:
        scope: Where to create them.
        addons: Construct id to name of the add-on.
        cluster: The EKS cluster.
        kubernetes_version: Its Kubernetes version.
    """
    for construct_id, name in addons.items():
        addon = aws_eks_v2.Addon(
            scope,
            construct_id,
            cluster=cluster,
            addon_name=name,
        )
        resource = addon.node.default_child
        assert isinstance(resource, aws_eks_v2.CfnAddon)  # noqa: S101 - what the L2 makes
        # The L2 has no key for it. Without it, an update fails where somebody has set a field:
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html
        resource.resolve_conflicts = "PRESERVE"
        # EKS chooses where no version is pinned.
        pinned = {version: pins.get(name) for version, pins in ADDON_VERSIONS.items()}
        resource.addon_version = looked_up(addon, kubernetes_version, table=pinned)

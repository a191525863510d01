"""EKS add-ons, each in the version that is pinned for the Kubernetes version."""

from collections.abc import Container, Iterable, Mapping
from typing import Any

from aws_cdk import aws_eks_v2
from constructs import Construct

from hyperpod_cdk.eks.section import DNS_ADDON, FSX_ADDON, EksConfig
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.synthesis.template_parameters import looked_up

# Of those that are deployed; others are called as EKS calls them.
_CONSTRUCT_IDS: Mapping[str, str] = {
    "eks-pod-identity-agent": "PodIdentityAgent",
    DNS_ADDON: "CoreDns",
    FSX_ADDON: "FsxCsiDriver",
}


class EksAddons(Construct):
    """The add-ons that need nodes: CoreDNS, and the CSI driver of FSx for Lustre.

    Until there are nodes for their pods, EKS says CREATING for up to 20 minutes and DEGRADED from
    then on, which CloudFormation takes as created. Keep them in a stack of their own, so that they
    outlive the nodes and nothing waits for them.

    Args:
        cluster: The EKS cluster.
        eks: The section that describes it, for the Kubernetes version.
        fsx_csi_driver: Whether pods mount an FSx for Lustre file system.
        dns: Whether to install CoreDNS. Default: true.

    Attributes:
        fsx_csi_driver: The driver; None without one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: aws_eks_v2.ICluster,
        eks: EksConfig,
        fsx_csi_driver: bool,
        dns: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        wanted = {DNS_ADDON: dns, FSX_ADDON: fsx_csi_driver}
        addons = [name for name, is_wanted in wanted.items() if is_wanted]
        made = add_addons(self, addons, cluster=cluster, kubernetes_version=eks.version)
        self.fsx_csi_driver = made.get(FSX_ADDON)


def add_addons(
    scope: Construct,
    addons: Iterable[str],
    *,
    cluster: aws_eks_v2.ICluster,
    kubernetes_version: str,
    configuration: Mapping[str, Mapping[str, Any]] | None = None,
    preserved: Container[str] = (),
) -> Mapping[str, aws_eks_v2.Addon]:
    """Add EKS add-ons to a cluster, pinned by its Kubernetes version; return them by name.

    `configuration` has values of add-ons by their names. The `preserved` ones stay in the
    cluster when they are deleted.
    """
    made = {}
    for name in addons:
        addon = made[name] = aws_eks_v2.Addon(
            scope,
            _CONSTRUCT_IDS.get(name) or "".join(map(str.capitalize, name.split("-"))),
            cluster=cluster,
            addon_name=name,
            configuration_values=(configuration or {}).get(name),
            preserve_on_delete=True if name in preserved else None,
        )
        resource = addon.node.default_child
        assert isinstance(resource, aws_eks_v2.CfnAddon)  # noqa: S101 - what the L2 makes
        # The L2 has no key for it. Without it, an update fails where a user has set a field:
        # https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html
        resource.resolve_conflicts = "PRESERVE"
        # Without a pinned version, EKS chooses one.
        pinned = {version: pins.get(name) for version, pins in ADDON_VERSIONS.items()}
        resource.addon_version = looked_up(addon, kubernetes_version, table=pinned)
    return made

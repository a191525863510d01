"""What the pods of editors may ask of a node."""

from collections.abc import Sequence

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_cdk.eks.section import EditorsConfig
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory


class EditorsPodSecurity(Construct):
    """Holds pods in editors' namespaces to the Pod Security Standard `baseline`.

    A ValidatingAdmissionPolicy, because a namespace may be a pattern or not exist yet, and has no
    label then. It is a Helm release in `kube-system`. Without it, an editor's privileged pod is
    root on its node: let the access entries of editors depend on it.

    Args:
        cluster: The EKS cluster, of Kubernetes 1.30 or later.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        editors: Whose namespaces, and where pods may be privileged; at least one.
        release: Release name. Default: `hyperpod-pod-security`.
        depends_on: What else the release needs, such as `ProvisionerAccess`. Default: nothing.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        editors: Sequence[EditorsConfig],
        release: str = "hyperpod-pod-security",
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "pod-security",
            release=release,
            namespace="kube-system",
            values={
                "namespaces": sorted({name for each in editors for name in each.namespaces}),
                "privileged": sorted(
                    {name for each in editors for name in each.privileged_namespaces}
                ),
            },
            depends_on=depends_on,
        )

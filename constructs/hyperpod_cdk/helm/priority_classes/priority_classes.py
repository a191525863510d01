"""The PriorityClasses of a cluster."""

from collections.abc import Sequence

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.helm.priority_classes.section import DEFAULT_PRIORITY_CLASSES, PriorityClassConfig
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory


class PriorityClasses(Construct):
    """PriorityClasses, installed as a Helm release of their own.

    Kubernetes never changes the value or the preemption policy of a class: such an update is
    refused before anything is changed. Give the class another name, or remove it in one deployment
    and add it again in the next; running pods keep the priority they started with.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        classes: At least one, each name once, at most one global default. Default: `inference`,
            `training` and `best-effort`.
        release: Release name. Default: `hyperpod-priority-classes`.
        namespace: Namespace of the release; the classes themselves have none. Default:
            `kube-system`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        classes: Sequence[PriorityClassConfig] = DEFAULT_PRIORITY_CLASSES,
        release: str = "hyperpod-priority-classes",
        namespace: str = "kube-system",
    ) -> None:
        super().__init__(scope, construct_id)
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "priority-classes",
            release=release,
            namespace=namespace,
            values={"classes": [item.to_request() for item in classes]},
        )

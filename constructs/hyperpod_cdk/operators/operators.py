"""The operators as EKS add-ons, in the order in which EKS can install them."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.hyperpod.data_bucket_section import DataBucketConfig
from hyperpod_cdk.operators.inference import InferenceAccess, InferenceSetup
from hyperpod_cdk.operators.pod_roles import ModelsRole, SpacesRole, VolumesRole
from hyperpod_cdk.operators.section import OperatorsConfig
from hyperpod_cdk.synthesis.reasons import attach_managed_policy

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
_NAMESPACE, _SERVICE_ACCOUNT = "aws-hyperpod", "hp-training-operator-controller-manager"
_MANAGED_POLICY = "AmazonSageMakerHyperPodTrainingOperatorAccess"


class Operators(Construct):
    """The operators that are switched on.

    They need a node: EKS gives up the training operator where cert-manager has no ready pod. Make
    them after the nodes, and delete them before the namespace `aws-hyperpod` goes, in which the
    training operator runs. Deleting cert-manager, the training operator, Spaces or the inference
    operator only ends what EKS does for it: what it has put into the cluster stays, with the
    certificates, jobs, Workspaces and endpoints of users.

    Args:
        cluster: The EKS cluster; with the add-on eks-pod-identity-agent for those that have a role.
        control_plane: The section that describes it, for the Kubernetes version.
        operators: Which ones.
        inference: What the inference operator gets; needed with it.
        hyperpod_stack_name: Name of the stack of the HyperPod cluster to whose nodes the driver of
            EBS attaches volumes. Default: any cluster's.
        data_buckets: What pods mount by the S3 CSI driver. Default: models of JumpStart alone.

    Raises:
        ValueError: The inference operator is on, and `inference` is left out.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        control_plane: EksConfig,
        operators: OperatorsConfig,
        inference: InferenceSetup | None = None,
        hyperpod_stack_name: str | None = None,
        data_buckets: Sequence[DataBucketConfig] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        addons = {addon.key: addon for addon in operators.addons}
        configuration = {addon.name: addon.values for addon in operators.addons if addon.values}
        rights: dict[str, Construct] = {
            addon: role(self, role.__name__, cluster=cluster)
            for addon, role in _ROLES.items()
            if addon in addons
        }
        if operators.ebs_csi_driver:
            rights["ebs_csi_driver"] = VolumesRole(
                self, "VolumesRole", cluster=cluster, hyperpod_stack_name=hyperpod_stack_name
            )
        if operators.s3_csi_driver:
            rights["s3_csi_driver"] = ModelsRole(
                self, "ModelsRole", cluster=cluster, data_buckets=data_buckets
            )
        if operators.inference_operator:
            if inference is None:
                raise ValueError("operators.inference_operator needs inference")
            access = InferenceAccess(self, "Inference", setup=inference)
            rights["inference_operator"] = access
            configuration[addons["inference_operator"].name] = access.configuration
        made = add_addons(
            self,
            [addon.name for addon in operators.addons],
            cluster=cluster,
            kubernetes_version=control_plane.version,
            configuration=configuration,
            preserved=[addon.name for addon in operators.addons if addon.is_preserved],
        )
        for addon in operators.addons:
            dependencies = made[addon.name].node
            # EKS refuses an association within the add-on for versions that do not announce one,
            # such as v1.2.1 of the training operator, and a pod gets the role if the association is
            # there before it starts. https://github.com/awslabs/awsome-distributed-ai/pull/1076
            if addon.key in rights:
                dependencies.add_dependency(rights[addon.key])
            for needed in addon.needs:
                if needed in addons:
                    dependencies.add_dependency(made[addons[needed].name])


class TrainingOperatorRole(PodRole):
    """The role of the HyperPod training operator, by EKS Pod Identity.

    It looks at nodes of HyperPod clusters with the tag `SageMaker: "true"`.

    Args:
        cluster: The EKS cluster.

    Attributes:
        role: The role.
    """

    def __init__(self, scope: Construct, construct_id: str, *, cluster: eks.ICluster) -> None:
        super().__init__(
            scope,
            construct_id,
            cluster=cluster,
            namespace=_NAMESPACE,
            service_account=_SERVICE_ACCOUNT,
            description="Looks at the nodes of training jobs",
        )
        attach_managed_policy(self.role, _MANAGED_POLICY, whose="the training operator's")


_ROLES: Mapping[str, type[TrainingOperatorRole | SpacesRole]] = {
    "training_operator": TrainingOperatorRole,
    "spaces": SpacesRole,
}

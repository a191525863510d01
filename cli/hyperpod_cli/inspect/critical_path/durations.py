"""How long CloudFormation takes to create a resource of each type."""

from collections.abc import Mapping
from dataclasses import dataclass

STACK = "AWS::CloudFormation::Stack"
"""Stands for what comes before the first resource of a stack: its change set."""

_EKS, _FSX = "AWS::EKS::Cluster", "AWS::FSx::FileSystem"
# 15 to 25 minutes until the cluster is in service, and its nodes with it.
_HYPERPOD = (
    "https://github.com/awslabs/awsome-distributed-ai/blob/95b939cdc5b24ded03a70da21533964f9354b731/"
    "1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/hyperpod-mental-model.md"
)
# Ten minutes and six seconds, and the add-ons after it.
_EKS_ADDONS = "https://github.com/terraform-aws-modules/terraform-aws-eks/pull/3218"


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration:
    """How long a resource takes from the first call until it is ready.

    Attributes:
        seconds: In standard mode.
        source: Where the number is from; None if it is assumed.
        waits_for: Types of what it needs that must be ready before AWS takes the call. In express
            mode, CloudFormation does not wait for them, but repeats the call until they are.
    """

    seconds: int
    source: str | None = None
    waits_for: tuple[str, ...] = ()


CALL_SECONDS = 5
"""How long express mode takes for a resource that it does not wait for; assumed."""

OTHER = Duration(seconds=10)
"""What is made in seconds, and is not listed."""

DURATIONS: Mapping[str, Duration] = {
    STACK: Duration(seconds=20),
    # What Terraform's logs in public repositories say: 94 to 105 seconds.
    "AWS::EC2::NatGateway": Duration(seconds=105),
    "AWS::EC2::VPCEndpoint": Duration(seconds=60),
    "AWS::EC2::InternetGateway": Duration(seconds=15),
    "AWS::EC2::EIP": Duration(seconds=15),
    "AWS::IAM::ManagedPolicy": Duration(seconds=20),
    "AWS::IAM::Policy": Duration(seconds=15),
    "AWS::IAM::Role": Duration(seconds=20),
    "AWS::KMS::Key": Duration(seconds=60),
    "AWS::S3::Bucket": Duration(seconds=20),
    _EKS: Duration(seconds=606, source=_EKS_ADDONS),
    "AWS::EKS::AccessEntry": Duration(
        seconds=5,
        source="https://github.com/DevopsArtFactory/terraform-provisioning/pull/47",
        waits_for=(_EKS,),
    ),
    # EKS says UPDATING for minutes; assumed.
    "Custom::EksAuthenticationMode": Duration(seconds=180),
    "AWS::EKS::Addon": Duration(seconds=35, waits_for=(_EKS,)),
    "AWS::EKS::PodIdentityAssociation": Duration(seconds=5, waits_for=(_EKS,)),
    _FSX: Duration(seconds=600, source="https://github.com/aws-samples/aws-hpc-tutorials/pull/289"),
    "AWS::FSx::DataRepositoryAssociation": Duration(
        seconds=600,
        source="https://github.com/aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow/issues/112",
        waits_for=(_FSX,),
    ),
    "AWS::SageMaker::Cluster": Duration(seconds=1200, source=_HYPERPOD, waits_for=(_EKS,)),
    "Custom::DeletionCheck": Duration(seconds=10),
    "Custom::FileSystemAvailability": Duration(seconds=10, waits_for=(_FSX,)),
    "Custom::HelmRelease": Duration(seconds=60, waits_for=(_EKS,)),
    "Custom::HyperPodCluster": Duration(seconds=1200, source=_HYPERPOD, waits_for=(_EKS,)),
    "Custom::LifecycleScripts": Duration(seconds=30),
}
"""By resource type: a first deployment in a quiet region, without deep health checks."""


def duration_of(resource_type: str) -> Duration:
    """Return how long a resource of a type takes."""
    return DURATIONS.get(resource_type, OTHER)


def is_custom(resource_type: str) -> bool:
    """Tell whether CloudFormation waits for a resource in express mode, too.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html
    """
    return resource_type.startswith("Custom::") or resource_type == STACK

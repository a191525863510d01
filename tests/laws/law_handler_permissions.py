"""The provisioner may do what CloudFormation's handlers do for the types in whose place it is.

HyperPod calls EKS with its caller's rights, so what a handler asks for, a function needs, too:
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
"""

from tests.support.cloudformation_lists import handler_permissions
from tests.support.laws import Deployment

_IN_PLACE_OF = {
    "Custom::HyperPodCluster": ("AWS::SageMaker::Cluster",),
    "Custom::TaskGovernance": (
        "AWS::SageMaker::ClusterSchedulerConfig",
        "AWS::SageMaker::ComputeQuota",
    ),
}
# What the provisioner does without, and why.
_NOT_NEEDED = {
    # It looks for one by its name: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeCluster.html
    "sagemaker:ListClusters",
    # Only with an AMI or a key of one's own, whose statements then grant them.
    "ec2:DescribeImages",
    "ec2:DescribeSnapshots",
    "ec2:ModifyImageAttribute",
    "ec2:ModifySnapshotAttribute",
    "kms:CreateGrant",
    "kms:DescribeKey",
}
# It gives the quotas and the cluster policy no tags.
_NOT_OF_GOVERNANCE = {"sagemaker:AddTags", "sagemaker:DeleteTags", "sagemaker:ListTags"}
_WITHOUT_EKS = "eks:"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each right that a custom resource lacks."""
    granted = {
        action
        for statement in deployment.statements
        if statement.effect == "Allow"
        for action in statement.actions
        if "Provisioner" in str(statement.resource.properties.get("Roles"))
    }
    has_eks = any(deployment.of_type("AWS::EKS::Cluster")) or deployment.config.control_plane
    return [
        resource.violation(f"{kind} needs {action}", allowed="the role of the provisioner has it")
        for resource in deployment.of_type(*_IN_PLACE_OF)
        for kind in _IN_PLACE_OF[resource.type]
        for action in sorted(handler_permissions(kind) - granted - _NOT_NEEDED)
        if has_eks or not action.startswith(_WITHOUT_EKS)
        if resource.type != "Custom::TaskGovernance" or action not in _NOT_OF_GOVERNANCE
    ]

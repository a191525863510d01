"""Who may do what a handler of CloudFormation does, may do what the handler needs for it.

AWS calls other services with its caller's rights, so what a handler asks for, a role needs, too:
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
"""

from collections.abc import Iterator, Mapping

from tests.support.cloudformation_lists import handlers, handlers_that_call
from tests.support.laws import Deployment, Resource

_IN_PLACE_OF = {
    "Custom::HyperPodCluster": ("AWS::SageMaker::Cluster",),
    "Custom::TaskGovernance": (
        "AWS::SageMaker::ClusterSchedulerConfig",
        "AWS::SageMaker::ComputeQuota",
    ),
}
"""The types whose handlers a custom resource stands for as a whole."""
# What roles do without, and why.
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
    # Only for a listener that asks Cognito who calls, and addresses of a pool.
    "cognito-idp:DescribeUserPoolClient",
    "ec2:DescribeIpamPools",
    # Only where a log group is what a delivery of logs leads to.
    "firehose:TagDeliveryStream",
    "s3:REST.PUT.OBJECT",
}
# It gives the quotas and the cluster policy no tags.
_NOT_OF_GOVERNANCE = {"sagemaker:AddTags", "sagemaker:DeleteTags", "sagemaker:ListTags"}
_WITHOUT_EKS = "eks:"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each right that a custom resource or a role lacks."""
    has_eks = any(deployment.of_type("AWS::EKS::Cluster")) or deployment.config.control_plane
    return [
        resource.violation(f"{kind} needs {action}", allowed="its role has it")
        for resource, kind, actions in [*_custom_resources(deployment), *_roles(deployment)]
        for action in sorted(actions - _NOT_NEEDED)
        if has_eks or not action.startswith(_WITHOUT_EKS)
        if resource.type != "Custom::TaskGovernance" or action not in _NOT_OF_GOVERNANCE
    ]


def _custom_resources(deployment: Deployment) -> Iterator[tuple[Resource, str, set[str]]]:
    rights = _rights(deployment).items()
    granted = set().union(*(actions for name, (_, actions) in rights if "Provisioner" in name))
    for resource in deployment.of_type(*_IN_PLACE_OF):
        for kind in _IN_PLACE_OF[resource.type]:
            yield resource, kind, set().union(*handlers(kind).values()) - granted


def _roles(deployment: Deployment) -> Iterator[tuple[Resource, str, set[str]]]:
    """Yield what roles lack in other services than the one that they call."""
    for resource, granted in _rights(deployment).values():
        for action in sorted(granted):
            same = action.partition(":")[0] + ":"
            for kind, needed in handlers_that_call(action):
                yield resource, kind, {x for x in needed - granted if not x.startswith(same)}


def _rights(deployment: Deployment) -> Mapping[str, tuple[Resource, set[str]]]:
    """Return what each role may do by its name, with a resource that lets it."""
    rights = dict[str, tuple[Resource, set[str]]]()
    for statement in deployment.statements:
        resource = statement.resource
        if statement.effect != "Allow" or not resource.type.startswith("AWS::IAM::"):
            continue
        for role in resource.properties.get("Roles") or [{"Ref": resource.logical_id}]:
            name = deployment.text(resource.stack, role)
            rights.setdefault(name, (resource, set()))[1].update(statement.actions)
    return rights

"""Permissions to create, change and delete a HyperPod cluster."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.limits import is_token
from hyperpod_cdk.synthesis.reasons import statement
from hyperpod_shared.owner import STACK_TAG

# What EBS does with a volume's key.
_GRANT_OPERATIONS = [
    "CreateGrant",
    "Decrypt",
    "DescribeKey",
    "GenerateDataKeyWithoutPlaintext",
    "ReEncryptFrom",
    "ReEncryptTo",
    "RetireGrant",
]


def volume_key_statements(scope: Construct, key_ids: Iterable[str]) -> list[iam.PolicyStatement]:
    """Return the rights that HyperPod uses to encrypt volumes with these keys; none without a key.

    Through SageMaker only, and grants to AWS services only. A mere ID is of the stack's account and
    region; a CDK token stands for an ARN. The keys' own policies must allow it too:
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    """
    keys = [arn_of(scope, "kms", "key", key_id) for key_id in key_ids]
    if not keys:
        return []
    service = f"sagemaker.{Stack.of(scope).region}.{Aws.URL_SUFFIX}"
    through_sagemaker = {"StringEquals": {"kms:ViaService": service}}
    add = partial(statement, scope, added_by="a KMS key of a volume, or `encryption.node_volumes`")
    return [
        add(
            sid="GrantVolumeKeys",
            why="EBS encrypts volumes, through SageMaker alone.",
            actions=["kms:CreateGrant"],
            resources=keys,
            conditions={
                **through_sagemaker,
                "Bool": {"kms:GrantIsForAWSResource": "true"},
                "ForAllValues:StringEquals": {"kms:GrantOperations": _GRANT_OPERATIONS},
            },
        ),
        add(
            sid="DescribeVolumeKeys",
            why="EBS looks the key up, through SageMaker alone.",
            actions=["kms:DescribeKey"],
            resources=keys,
            conditions=through_sagemaker,
        ),
    ]


def arn_of(scope: Construct, service: str, resource: str, name: str) -> str:
    """Return the ARN of a resource of the stack's account and region, given its name or ARN.

    The service and the type of the resource are as ARNs have them; a CDK token stands for an ARN.
    """
    return (
        name if name.startswith("arn:") or is_token(name) else _arn(scope, service, resource, name)
    )


_SAGEMAKER, _HYPERPOD = "sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com"
_SERVICE_LINKED_ROLE = f"aws-service-role/{_HYPERPOD}/AWSServiceRoleForSageMakerHyperPod"


CLUSTER_ARN_IS_DRAWN = (
    "A HyperPod cluster's ARN ends in an id that the service draws at creation, and it needs this "
    "role before it has one."
)
"""Why rights are on `any_hyperpod_cluster`."""


def any_hyperpod_cluster(scope: Construct) -> str:
    """Return the ARN pattern of HyperPod clusters: theirs end in an id drawn at creation."""
    return _arn(scope, "sagemaker", "cluster", "*")


def hyperpod_access(
    scope: Construct, cluster: ClusterConfig, *, execution_role_arns: Sequence[str]
) -> list[iam.PolicyStatement]:
    """Return the statements of the principal that manages a HyperPod cluster.

    Only what this cluster takes: the roles, keys, training plans and AMIs that it names; HyperPod
    scales it with its `role_arn`. Rights on the EKS cluster are `ProvisionerAccess`'s.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """
    add = partial(statement, scope)
    return [
        add(
            sid="DescribeCluster",
            why=(
                "It asks what became of the HyperPod cluster, and whose it is. The ARN of a "
                "cluster ends in an id that HyperPod draws."
            ),
            actions=[
                "sagemaker:DescribeCluster",
                "sagemaker:DescribeClusterEvent",
                "sagemaker:DescribeClusterNode",
                "sagemaker:ListClusterEvents",
                "sagemaker:ListClusterNodes",
                "sagemaker:ListTags",
            ],
            resources=[any_hyperpod_cluster(scope)],
            wildcard=CLUSTER_ARN_IS_DRAWN,
        ),
        add(
            sid="ManageCluster",
            why=(
                "It creates, updates and deletes the HyperPod cluster, and none that is tagged "
                "with another deployment's stack."
            ),
            actions=[
                "sagemaker:AddTags",
                # HyperPod makes these two with the caller's rights when a cluster is updated.
                # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
                "sagemaker:BatchAddClusterNodes",
                "sagemaker:BatchDeleteClusterNodes",
                "sagemaker:CreateCluster",
                "sagemaker:DeleteCluster",
                "sagemaker:DeleteTags",
                "sagemaker:UpdateCluster",
                "sagemaker:UpdateClusterSoftware",
            ],
            resources=[any_hyperpod_cluster(scope)],
            # A cluster has no tag until it is created, and may have lost it.
            conditions=of_stack(scope, Stack.of(scope).stack_name),
        ),
        add(
            sid="PassExecutionRole",
            why="It hands the nodes' roles to HyperPod, and to no other service.",
            actions=["iam:PassRole"],
            resources=list(execution_role_arns),
            conditions={"StringEquals": {"iam:PassedToService": _SAGEMAKER}},
        ),
        add(
            sid="FirstUseOfHyperPod",
            why="The first cluster of an account makes HyperPod's service-linked role.",
            actions=["iam:CreateServiceLinkedRole"],
            resources=[_arn(scope, "iam", "role", _SERVICE_LINKED_ROLE, region="")],
            conditions={"StringEquals": {"iam:AWSServiceName": _HYPERPOD}},
        ),
        *_pass_cluster_role(scope, cluster),
        *_use_training_plans(scope, cluster),
        *_share_images(scope, cluster),
        *volume_key_statements(scope, cluster.volume_key_ids),
        add(
            sid="FindTaskGovernance",
            why=(
                "It names the quotas and policies that keep a cluster from being deleted. AWS "
                "takes no resource for these."
            ),
            actions=["sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"],
            resources=["*"],
            wildcard="Listing task governance: AWS takes no resource for it.",
        ),
    ]


def _pass_cluster_role(scope: Construct, cluster: ClusterConfig) -> list[iam.PolicyStatement]:
    if cluster.role_arn is None:
        return []
    return [
        statement(
            scope,
            sid="PassClusterRole",
            why="HyperPod gets the role of scaling.",
            added_by="`cluster.auto_scaling`",
            actions=["iam:PassRole"],
            resources=[cluster.role_arn],
            # HyperPod's own principal assumes it; its call to pass it on is SageMaker's.
            conditions={"StringEquals": {"iam:PassedToService": [_HYPERPOD, _SAGEMAKER]}},
        )
    ]


def _use_training_plans(scope: Construct, cluster: ClusterConfig) -> list[iam.PolicyStatement]:
    plans = cluster.training_plan_arns
    if not plans:
        return []
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerFullAccess.html
    return [
        statement(
            scope,
            sid="UseTrainingPlans",
            why="A cluster draws on the plan's capacity.",
            added_by="`training_plan_arn`",
            actions=[
                "sagemaker:CreateCluster",
                "sagemaker:DescribeTrainingPlan",
                "sagemaker:UpdateCluster",
            ],
            resources=[*plans, _arn(scope, "sagemaker", "reserved-capacity", "*")],
            wildcard="A training plan draws on reserved capacity whose ids only the service knows.",
        )
    ]


def _share_images(scope: Construct, cluster: ClusterConfig) -> list[iam.PolicyStatement]:
    images = cluster.custom_image_ids
    if not images:
        return []
    add = partial(statement, scope, added_by="an AMI of your own")
    # https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-custom-ami-cluster-management.html
    return [
        add(
            sid="FindImages",
            why="HyperPod looks the AMI up.",
            actions=["ec2:DescribeImages", "ec2:DescribeSnapshots"],
            resources=["*"],
            wildcard="Listing images and snapshots: AWS takes no resource for it.",
        ),
        add(
            sid="ShareImages",
            why="HyperPod shares the AMI with its own account.",
            actions=["ec2:ModifyImageAttribute"],
            resources=[_arn(scope, "ec2", "image", image, account="") for image in images],
        ),
        add(
            sid="ShareSnapshots",
            why="The same, for the AMI's snapshot.",
            actions=["ec2:ModifySnapshotAttribute"],
            resources=[_arn(scope, "ec2", "snapshot", "*", account="")],
            wildcard="HyperPod shares the AMI's snapshot; its id is not in the configuration.",
        ),
    ]


def of_stack(scope: Construct, name: str | None) -> dict[str, Any] | None:
    """Return the condition that a resource is no other stack's than that of a name, or namesakes'.

    What has no tag is let through. Without a name there is no condition.
    """
    if name is None:
        return None
    stacks = _arn(scope, "cloudformation", "stack", f"{name}/*")
    return {"StringLikeIfExists": {f"aws:ResourceTag/{STACK_TAG}": stacks}}


def _arn(
    scope: Construct,
    service: str,
    resource: str,
    name: str,
    *,
    region: str | None = None,
    account: str | None = None,
) -> str:
    return Stack.of(scope).format_arn(
        service=service, region=region, account=account, resource=resource, resource_name=name
    )

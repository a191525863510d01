"""How to be admitted to the cluster, whom roles trust, and where IAM has wildcards."""

from collections import defaultdict
from typing import Any

import pytest

from hyperpod_cdk import Config
from tests.conftest import Assemble, Configure
from tests.support.template_view import TemplateView, listed

EC2 = "arn:aws:ec2:us-west-2:<AWS::AccountId>"
DESCRIBE = [
    "DhcpOptions",
    "InstanceTypes",
    "Instances",
    "NetworkInterfaces",
    "SecurityGroups",
    "Subnets",
    "Tags",
    "Vpcs",
]
ENTRIES = ["AssociateAccessPolicy", "DeleteAccessEntry", "DescribeAccessEntry"]
CLUSTERS = [
    "AddTags",
    "AttachClusterNodeNetworkInterface",
    "BatchAddClusterNodes",
    "BatchDeleteClusterNodes",
    "CreateCluster",
    "DeleteCluster",
    "DeleteTags",
    "DescribeCluster",
    "DescribeClusterEvent",
    "DescribeClusterNode",
    "ListClusterEvents",
    "ListClusterNodes",
    "ListTags",
    "UpdateCluster",
    "UpdateClusterSoftware",
]
GOVERNANCE = ["ListClusterSchedulerConfigs", "ListComputeQuotas"]
INTERFACES = [
    "AssignPrivateIpAddresses",
    "AttachNetworkInterface",
    "CreateNetworkInterface",
    "CreateNetworkInterfacePermission",
    "DeleteNetworkInterface",
    "DeleteNetworkInterfacePermission",
    "ModifyNetworkInterfaceAttribute",
    "UnassignPrivateIpAddresses",
]
LOG_DELIVERY = [
    "CreateLogDelivery",
    "CreateLogStream",
    "DeleteLogDelivery",
    "DescribeLogGroups",
    "DescribeResourcePolicies",
    "GetLogDelivery",
    "ListLogDeliveries",
    "PutLogEvents",
    "PutResourcePolicy",
    "UpdateLogDelivery",
]


def actions(service: str, names: list[str]) -> set[str]:
    return {f"{service}:{name}" for name in names}


# Resource: actions allowed on it, and why there is a wildcard.
REVIEWED = {
    # Nodes: AWS takes no resource for these; they read, or log in to ECR. The provider framework's
    # waiter: AWS takes no resource for log delivery either.
    "*": {
        *actions("ec2", [f"Describe{name}" for name in DESCRIBE]),
        "ecr:GetAuthorizationToken",
        "fsx:DescribeFileSystems",
        # Nodes: they are instances of an account of the service, which no ARN of ours names.
        "ec2:DetachNetworkInterface",
        *actions("logs", LOG_DELIVERY),
        # Provisioner: nor for these, which name what keeps a cluster from being deleted.
        *actions("sagemaker", GOVERNANCE),
    },
    # Nodes: the CNI's interfaces, and nodes themselves, have ids nobody knows ahead.
    f"{EC2}:network-interface/*": {*actions("ec2", INTERFACES), "ec2:CreateTags"},
    f"{EC2}:instance/*": actions("ec2", INTERFACES),
    # Nodes: images of several AWS accounts and regions; pull only.
    "arn:<AWS::Partition>:ecr:*:*:repository/*": actions(
        "ecr", ["BatchCheckLayerAvailability", "BatchGetImage", "GetDownloadUrlForLayer"]
    ),
    # Provisioner: ids that the services draw.
    "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:cluster/*": actions("sagemaker", CLUSTERS),
    "arn:aws:eks:us-west-2:<AWS::AccountId>:access-entry/<AWS::EKS::Cluster>/*": actions(
        "eks", ENTRIES
    ),
    # Provisioner: a lifecycle script that is removed or renamed is not known by its key.
    "<AWS::S3::Bucket.Arn>/*": {
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        "s3:GetObject",
        "s3:PutObject",
    },
    # CDK's provider framework: versions of the functions.
    "<AWS::Lambda::Function.Arn>:*": {"lambda:InvokeFunction"},
    # S3 itself delivers access logs under one prefix.
    "<AWS::S3::Bucket.Arn>/lifecycle-scripts/*": {"s3:PutObject"},
}
# Provisioner: Lambda's network interfaces have ids nobody knows ahead.
IN_VPC = actions(
    "ec2",
    [
        "AssignPrivateIpAddresses",
        "CreateNetworkInterface",
        "DeleteNetworkInterface",
        "UnassignPrivateIpAddresses",
    ],
)
CONFIGS: list[Any] = [
    pytest.param({}, id="default"),
    pytest.param({"eks": {"endpoint_access": "private"}}, id="private"),
    pytest.param(
        {"storage": {"data_repositories": [{"s3_uri": "s3://bucket/prefix"}]}}, id="s3-link"
    ),
]


def statements(assemble: Assemble, config: Config) -> list[tuple[TemplateView, dict[str, Any]]]:
    views = [TemplateView(template) for template in assemble(config).templates().values()]
    return [(view, statement) for view in views for _, statement in view.statements()]


@pytest.mark.parametrize("changes", CONFIGS)
def test_every_wildcard_is_a_reviewed_one(
    configure: Configure, assemble: Assemble, changes: dict[str, Any]
) -> None:
    config = configure(changes)
    allowed: dict[str, set[str]] = defaultdict(set)
    for view, statement in statements(assemble, config):
        if statement["Effect"] == "Allow":
            for resource in listed(statement["Resource"]):
                if "*" in view.text(resource):
                    allowed[view.text(resource)] |= set(listed(statement["Action"]))

    in_vpc = set() if config.eks.is_reachable_from_anywhere else IN_VPC
    assert allowed == {**REVIEWED, "*": REVIEWED["*"] | in_vpc}


@pytest.mark.parametrize("changes", CONFIGS)
def test_no_action_is_a_wildcard(
    configure: Configure, assemble: Assemble, changes: dict[str, Any]
) -> None:
    wild = [
        statement
        for _, statement in statements(assemble, configure(changes))
        if any("*" in action for action in listed(statement["Action"]))
    ]

    # The only ones refuse plain HTTP, to everybody and for everything.
    assert len(wild) == 2
    for statement in wild:
        assert statement["Effect"] == "Deny"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize("changes", CONFIGS)
def test_nothing_is_allowed_by_exclusion(
    configure: Configure, assemble: Assemble, changes: dict[str, Any]
) -> None:
    elements = {
        key for _, statement in statements(assemble, configure(changes)) for key in statement
    }

    assert not elements & {"NotAction", "NotResource", "NotPrincipal"}

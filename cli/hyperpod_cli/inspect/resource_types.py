"""The types of resources that configurations deploy: all that this package knows of each.

What the local AWS and the data of IAM know of them is in `emulator/` and `aws_reference/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

STACK = "AWS::CloudFormation::Stack"
"""Stands for what comes before the first resource of a stack: its change set."""

_VPC, _EKS, _FSX = "AWS::EC2::VPC", "AWS::EKS::Cluster", "AWS::FSx::FileSystem"
_NODE_GROUP = "AWS::EKS::Nodegroup"
_RDS, _TOPIC = "AWS::RDS::DBInstance", "AWS::SNS::Topic"
# 15 to 25 minutes until the cluster is in service, and its nodes with it:
# https://github.com/awslabs/awsome-distributed-ai/blob/95b939cdc5b24ded03a70da21533964f9354b731/1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/hyperpod-mental-model.md
_HYPERPOD_SECONDS = 1200


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceType:
    """What a type of resource is to a deployment.

    Attributes:
        seconds: How long a resource takes from the first call until it is ready: in
            CloudFormation's standard mode, in a quiet region, without deep health checks. Assumed
            where no source is linked.
        name_in_arn: The variable that is its name in the ARNs of the Service Authorization
            Reference; None if the ARN has an identifier that the service draws.
        added_to: The type whose name its `ClusterName` is.
        holds_data: Whether a replacement loses data or the work of a cluster.
    """

    seconds: int = 10
    name_in_arn: str | None = None
    added_to: str | None = None
    holds_data: bool = False


RESOURCE_TYPES: Mapping[str, ResourceType] = {
    STACK: ResourceType(seconds=20),
    "AWS::APS::RuleGroupsNamespace": ResourceType(seconds=15),
    "AWS::APS::Workspace": ResourceType(seconds=30, holds_data=True),
    "AWS::Budgets::Budget": ResourceType(name_in_arn="BudgetName"),
    "AWS::Chatbot::SlackChannelConfiguration": ResourceType(),
    "AWS::CloudWatch::Alarm": ResourceType(name_in_arn="AlarmName"),
    "AWS::CloudWatch::Dashboard": ResourceType(name_in_arn="DashboardName"),
    "AWS::CodeBuild::Project": ResourceType(name_in_arn="ProjectName"),
    "AWS::DynamoDB::Table": ResourceType(name_in_arn="TableName"),
    "AWS::EC2::EIP": ResourceType(seconds=15),
    "AWS::EC2::FlowLog": ResourceType(),
    "AWS::EC2::InternetGateway": ResourceType(seconds=15),
    "AWS::EC2::LaunchTemplate": ResourceType(),
    # What Terraform's logs in public repositories say: 94 to 105 seconds.
    "AWS::EC2::NatGateway": ResourceType(seconds=105),
    "AWS::EC2::PlacementGroup": ResourceType(),
    "AWS::EC2::Route": ResourceType(),
    "AWS::EC2::RouteTable": ResourceType(),
    "AWS::EC2::SecurityGroup": ResourceType(),
    "AWS::EC2::SecurityGroupEgress": ResourceType(),
    "AWS::EC2::SecurityGroupIngress": ResourceType(),
    "AWS::EC2::Subnet": ResourceType(holds_data=True),
    "AWS::EC2::SubnetRouteTableAssociation": ResourceType(),
    _VPC: ResourceType(holds_data=True),
    "AWS::EC2::VPCCidrBlock": ResourceType(),
    "AWS::EC2::VPCEndpoint": ResourceType(seconds=60),
    "AWS::EC2::VPCGatewayAttachment": ResourceType(),
    "AWS::ECR::Repository": ResourceType(name_in_arn="RepositoryName", holds_data=True),
    "AWS::EKS::AccessEntry": ResourceType(
        # https://github.com/DevopsArtFactory/terraform-provisioning/pull/47
        seconds=5,
        added_to=_EKS,
    ),
    "AWS::EKS::Addon": ResourceType(seconds=35, added_to=_EKS),
    _EKS: ResourceType(
        # Ten minutes and six seconds: https://github.com/terraform-aws-modules/terraform-aws-eks/pull/3218
        seconds=606,
        name_in_arn="ClusterName",
        holds_data=True,
    ),
    _NODE_GROUP: ResourceType(
        seconds=150,
        name_in_arn="NodegroupName",
        added_to=_EKS,
        holds_data=True,
    ),
    # In the card of the add-on that waits for it.
    "AWS::EKS::PodIdentityAssociation": ResourceType(seconds=5),
    "AWS::Events::Rule": ResourceType(name_in_arn="RuleName"),
    "AWS::FSx::DataRepositoryAssociation": ResourceType(
        # https://github.com/aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow/issues/112
        seconds=600,
    ),
    _FSX: ResourceType(
        # https://github.com/aws-samples/aws-hpc-tutorials/pull/289
        seconds=600,
        holds_data=True,
    ),
    # Minutes until it is active; assumed.
    "AWS::Grafana::Workspace": ResourceType(seconds=300, holds_data=True),
    "AWS::IAM::ManagedPolicy": ResourceType(seconds=20, name_in_arn="PolicyNameWithPath"),
    "AWS::IAM::Policy": ResourceType(seconds=15),
    "AWS::IAM::OIDCProvider": ResourceType(),
    "AWS::IAM::Role": ResourceType(seconds=20, name_in_arn="RoleNameWithPath"),
    "AWS::KMS::Alias": ResourceType(name_in_arn="Alias"),
    "AWS::KMS::Key": ResourceType(seconds=60, holds_data=True),
    "AWS::Lambda::Function": ResourceType(name_in_arn="FunctionName"),
    "AWS::Lambda::LayerVersion": ResourceType(name_in_arn="LayerName"),
    "AWS::Lambda::Permission": ResourceType(),
    "AWS::Logs::LogGroup": ResourceType(name_in_arn="LogGroupName"),
    _RDS: ResourceType(
        # https://github.com/hashicorp/terraform/issues/498
        seconds=600,
        name_in_arn="DbInstanceName",
        holds_data=True,
    ),
    "AWS::RDS::DBSubnetGroup": ResourceType(name_in_arn="SubnetGroupName", holds_data=True),
    "AWS::Route53Resolver::FirewallDomainList": ResourceType(),
    "AWS::Route53Resolver::FirewallRuleGroup": ResourceType(),
    "AWS::Route53Resolver::FirewallRuleGroupAssociation": ResourceType(),
    "AWS::S3::Bucket": ResourceType(seconds=20, name_in_arn="BucketName", holds_data=True),
    "AWS::S3::BucketPolicy": ResourceType(),
    "AWS::SageMaker::Cluster": ResourceType(seconds=_HYPERPOD_SECONDS, holds_data=True),
    "AWS::SNS::Subscription": ResourceType(),
    _TOPIC: ResourceType(name_in_arn="TopicName"),
    "AWS::SNS::TopicPolicy": ResourceType(),
    "AWS::SSM::Parameter": ResourceType(seconds=2, name_in_arn="ParameterNameWithoutLeadingSlash"),
    "AWS::StepFunctions::StateMachine": ResourceType(name_in_arn="StateMachineName"),
    "Custom::DefaultSecurityGroup": ResourceType(),
    "Custom::DeletionCheck": ResourceType(),
    # EKS says UPDATING for minutes; assumed.
    "Custom::EksAuthenticationMode": ResourceType(seconds=180),
    "Custom::FileSystemAvailability": ResourceType(),
    "Custom::HelmRelease": ResourceType(seconds=60),
    "Custom::HyperPodCluster": ResourceType(seconds=_HYPERPOD_SECONDS, holds_data=True),
    "Custom::LifecycleScripts": ResourceType(seconds=30),
    "Custom::NodeGroupSize": ResourceType(),
    "Custom::TaskGovernance": ResourceType(seconds=60),
}
"""By type. What reads the table follows: the deployer's policy, how long a change takes, and the
tests of replacements."""


def resource_type(name: str) -> ResourceType:
    """Return the row of a type; of one that no configuration deploys, a row of defaults."""
    return RESOURCE_TYPES.get(name, ResourceType())

"""What the load balancer controller of the inference operator may do in AWS."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.synthesis.reasons import statement

SWITCH: Final = "`operators.inference_operator`"
"""The key of the configuration that adds the statements."""
# The controller's tag of what it makes.
_OWN = "elbv2.k8s.aws/cluster"


def load_balancer_statements(scope: Construct, *, vpc_id: str) -> Iterator[iam.PolicyStatement]:
    """Yield what the load balancer controller may do.

    As the controller documents it for version 2.13, without rights to change AWS WAF, AWS Shield
    and Amazon Cognito, which no endpoint asks it for, and in the deployment's VPC alone.
    https://kubernetes-sigs.github.io/aws-load-balancer-controller/v2.13/deploy/installation/
    """

    def arns(service: str, *resources: str) -> list[str]:
        # Those of a load balancer, a target group and a listener end in what AWS draws.
        region, account = Stack.of(scope).region, Aws.ACCOUNT_ID
        place = f"arn:{Aws.PARTITION}:{service}:{region}:{account}"
        return [f"{place}:{resource}" for resource in resources]

    groups = arns("ec2", "security-group/*")
    (vpc,) = arns("ec2", f"vpc/{vpc_id}")
    in_vpc = {"ArnEquals": {"ec2:Vpc": vpc}}
    kinds = ("app", "net")
    balancers = arns("elasticloadbalancing", *(f"loadbalancer/{kind}/*/*" for kind in kinds))
    targets = arns("elasticloadbalancing", "targetgroup/*/*")
    listeners = arns(
        "elasticloadbalancing",
        *(f"listener/{kind}/*/*/*" for kind in kinds),
        *(f"listener-rule/{kind}/*/*/*/*" for kind in kinds),
    )
    made, making = f"aws:ResourceTag/{_OWN}", f"aws:RequestTag/{_OWN}"
    own = {"Null": {made: "false"}}
    retagged = {"Null": {making: "true", made: "false"}}

    allow = partial(statement, scope, added_by=SWITCH)

    def elb(*names: str) -> list[str]:
        return [f"elasticloadbalancing:{name}" for name in names]

    yield allow(
        sid="CreateServiceLinkedRole",
        why="The first load balancer of an account makes Elastic Load Balancing's role.",
        actions=["iam:CreateServiceLinkedRole"],
        resources=[
            f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
            "elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"
        ],
        conditions={"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}},
    )
    yield allow(
        sid="LookForLoadBalancers",
        why=(
            "The controller of load balancers looks at the network, at certificates, and at what "
            "protects load balancers."
        ),
        actions=[
            "acm:DescribeCertificate",
            "acm:ListCertificates",
            "ec2:DescribeAccountAttributes",
            "ec2:DescribeAddresses",
            "ec2:DescribeAvailabilityZones",
            "ec2:DescribeInstances",
            "ec2:DescribeInternetGateways",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeTags",
            "ec2:DescribeVpcPeeringConnections",
            "ec2:DescribeVpcs",
            "ec2:GetSecurityGroupsForVpc",
            *elb(
                "DescribeCapacityReservation",
                "DescribeListenerAttributes",
                "DescribeListenerCertificates",
                "DescribeListeners",
                "DescribeLoadBalancerAttributes",
                "DescribeLoadBalancers",
                "DescribeRules",
                "DescribeSSLPolicies",
                "DescribeTags",
                "DescribeTargetGroupAttributes",
                "DescribeTargetGroups",
                "DescribeTargetHealth",
                "DescribeTrustStores",
            ),
            "iam:GetServerCertificate",
            "iam:ListServerCertificates",
            "shield:DescribeProtection",
            "shield:GetSubscriptionState",
            "waf-regional:GetWebACL",
            "waf-regional:GetWebACLForResource",
            "wafv2:GetWebACL",
            "wafv2:GetWebACLForResource",
        ],
        resources=["*"],
    )
    yield allow(
        sid="CreateSecurityGroups",
        why="Each load balancer of an endpoint has a security group.",
        actions=["ec2:CreateSecurityGroup"],
        resources=[*groups, vpc],
    )
    yield allow(
        sid="TagNewSecurityGroups",
        why="The controller tags the security groups that it makes as its own.",
        actions=["ec2:CreateTags"],
        resources=groups,
        conditions={
            "StringEquals": {"ec2:CreateAction": "CreateSecurityGroup"},
            "Null": {making: "false"},
        },
    )
    yield allow(
        sid="TagOwnSecurityGroups",
        why="The controller changes other tags of its own security groups.",
        actions=["ec2:CreateTags", "ec2:DeleteTags"],
        resources=groups,
        conditions=retagged,
    )
    yield allow(
        sid="OpenSecurityGroups",
        why=(
            "The controller lets load balancers reach pods: in the security groups of the VPC, the "
            "nodes' among them."
        ),
        actions=["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"],
        resources=groups,
        conditions=in_vpc,
    )
    yield allow(
        sid="DeleteOwnSecurityGroups",
        why="The controller deletes its own security groups.",
        actions=["ec2:DeleteSecurityGroup"],
        resources=groups,
        conditions=own,
    )
    yield allow(
        sid="CreateLoadBalancers",
        why="The controller makes load balancers and target groups, tagged as its own.",
        actions=elb("CreateLoadBalancer", "CreateTargetGroup"),
        resources=[*balancers, *targets],
        conditions={"Null": {making: "false"}},
    )
    yield allow(
        sid="TagNewLoadBalancers",
        why="The controller tags them as its own when it makes them.",
        actions=elb("AddTags"),
        resources=[*balancers, *targets],
        conditions={
            "StringEquals": {
                "elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup"]
            },
            "Null": {making: "false"},
        },
    )
    yield allow(
        sid="TagOwnLoadBalancers",
        why="The controller changes other tags of its own ones.",
        actions=elb("AddTags", "RemoveTags"),
        resources=[*balancers, *targets],
        conditions=retagged,
    )
    yield allow(
        sid="ChangeOwnLoadBalancers",
        why="The controller changes and deletes its own ones.",
        actions=elb(
            "DeleteLoadBalancer",
            "DeleteTargetGroup",
            "ModifyLoadBalancerAttributes",
            "ModifyTargetGroup",
            "ModifyTargetGroupAttributes",
            "SetIpAddressType",
            "SetSecurityGroups",
            "SetSubnets",
        ),
        resources=[*balancers, *targets],
        conditions=own,
    )
    yield allow(
        sid="ListenOnLoadBalancers",
        why="The controller makes, changes and deletes listeners and their rules, and tags them.",
        actions=elb(
            "AddListenerCertificates",
            "AddTags",
            "CreateListener",
            "CreateRule",
            "DeleteListener",
            "DeleteRule",
            "ModifyListener",
            "ModifyListenerAttributes",
            "ModifyRule",
            "RemoveListenerCertificates",
            "RemoveTags",
            "SetRulePriorities",
        ),
        resources=[*balancers, *listeners],
    )
    yield allow(
        sid="RegisterPods",
        why="The controller registers the pods of an endpoint as targets.",
        actions=elb("DeregisterTargets", "RegisterTargets"),
        resources=targets,
    )

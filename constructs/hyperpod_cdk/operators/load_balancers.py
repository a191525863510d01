"""What the load balancer controller of the inference operator may do in AWS."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

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

    def allow(
        sid: str,
        why: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Mapping[str, Any] | None = None,
    ) -> iam.PolicyStatement:
        return statement(
            scope,
            sid=sid,
            why=why,
            added_by=SWITCH,
            actions=actions,
            resources=resources,
            conditions=conditions,
        )

    def elb(*names: str) -> list[str]:
        return [f"elasticloadbalancing:{name}" for name in names]

    yield allow(
        "CreateServiceLinkedRole",
        "The first load balancer of an account makes Elastic Load Balancing's role.",
        ["iam:CreateServiceLinkedRole"],
        [
            f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
            "elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"
        ],
        {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}},
    )
    yield allow(
        "LookForLoadBalancers",
        "The controller of load balancers looks at the network, at certificates, and at what "
        "protects load balancers.",
        [
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
        ["*"],
    )
    yield allow(
        "CreateSecurityGroups",
        "Each load balancer of an endpoint has a security group.",
        ["ec2:CreateSecurityGroup"],
        [*groups, vpc],
    )
    yield allow(
        "TagNewSecurityGroups",
        "The controller tags the security groups that it makes as its own.",
        ["ec2:CreateTags"],
        groups,
        {
            "StringEquals": {"ec2:CreateAction": "CreateSecurityGroup"},
            "Null": {making: "false"},
        },
    )
    yield allow(
        "TagOwnSecurityGroups",
        "The controller changes other tags of its own security groups.",
        ["ec2:CreateTags", "ec2:DeleteTags"],
        groups,
        retagged,
    )
    yield allow(
        "OpenSecurityGroups",
        "The controller lets load balancers reach pods: in the security groups of the VPC, the "
        "nodes' among them.",
        ["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"],
        groups,
        in_vpc,
    )
    yield allow(
        "DeleteOwnSecurityGroups",
        "The controller deletes its own security groups.",
        ["ec2:DeleteSecurityGroup"],
        groups,
        own,
    )
    yield allow(
        "CreateLoadBalancers",
        "The controller makes load balancers and target groups, tagged as its own.",
        elb("CreateLoadBalancer", "CreateTargetGroup"),
        [*balancers, *targets],
        {"Null": {making: "false"}},
    )
    yield allow(
        "TagNewLoadBalancers",
        "The controller tags them as its own when it makes them.",
        elb("AddTags"),
        [*balancers, *targets],
        {
            "StringEquals": {
                "elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup"]
            },
            "Null": {making: "false"},
        },
    )
    yield allow(
        "TagOwnLoadBalancers",
        "The controller changes other tags of its own ones.",
        elb("AddTags", "RemoveTags"),
        [*balancers, *targets],
        retagged,
    )
    yield allow(
        "ChangeOwnLoadBalancers",
        "The controller changes and deletes its own ones.",
        elb(
            "DeleteLoadBalancer",
            "DeleteTargetGroup",
            "ModifyLoadBalancerAttributes",
            "ModifyTargetGroup",
            "ModifyTargetGroupAttributes",
            "SetIpAddressType",
            "SetSecurityGroups",
            "SetSubnets",
        ),
        [*balancers, *targets],
        own,
    )
    yield allow(
        "ListenOnLoadBalancers",
        "The controller makes, changes and deletes listeners and their rules, and tags them.",
        elb(
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
        [*balancers, *listeners],
    )
    yield allow(
        "RegisterPods",
        "The controller registers the pods of an endpoint as targets.",
        elb("DeregisterTargets", "RegisterTargets"),
        targets,
    )

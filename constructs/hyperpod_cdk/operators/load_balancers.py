"""What the load balancer controller of the inference operator may do in AWS."""

from collections.abc import Iterator
from typing import Any, Final

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.facts import table_of
from hyperpod_cdk.synthesis.reasons import statement

SWITCH: Final = "`operators.inference_operator`"
"""The key of the configuration that adds the statements."""
WILDCARD: Final = (
    "AWS takes no resource for it, or names it only when it is made; a tag of the controller's or "
    "the VPC limits what it changes."
)
"""Why resources of the statements have wildcards."""
# The controller's tag of what it makes.
_OWN = "elbv2.k8s.aws/cluster"
_SERVICE = "elasticloadbalancing.amazonaws.com"


def load_balancer_statements(
    scope: Construct, *, vpc_id: str, eks_cluster_name: str
) -> Iterator[iam.PolicyStatement]:
    """Yield what the load balancer controller may do.

    That is what `load_balancers.yaml` has, in the deployment's VPC alone. What there is, it changes
    by the tag that the controller of this EKS cluster gives to all that it makes, listeners and
    rules too.
    https://kubernetes-sigs.github.io/aws-load-balancer-controller/v2.13/deploy/configurations/
    """

    def arns(service: str, *resources: str) -> list[str]:
        # Those of a load balancer, a target group and a listener end in what AWS draws.
        region, account = Stack.of(scope).region, Aws.ACCOUNT_ID
        place = f"arn:{Aws.PARTITION}:{service}:{region}:{account}"
        return [f"{place}:{resource}" for resource in resources]

    groups = arns("ec2", "security-group/*")
    (vpc,) = arns("ec2", f"vpc/{vpc_id}")
    kinds = ("app", "net")
    balancers = arns("elasticloadbalancing", *(f"loadbalancer/{kind}/*/*" for kind in kinds))
    targets = arns("elasticloadbalancing", "targetgroup/*/*")
    listeners = arns(
        "elasticloadbalancing",
        *(f"listener/{kind}/*/*/*" for kind in kinds),
        *(f"listener-rule/{kind}/*/*/*/*" for kind in kinds),
    )
    made, making = f"aws:ResourceTag/{_OWN}", f"aws:RequestTag/{_OWN}"

    resources = {
        "any": ["*"],
        "role": [
            f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
            f"{_SERVICE}/AWSServiceRoleForElasticLoadBalancing"
        ],
        "vpc": [vpc],
        "groups": groups,
        "balancers": balancers,
        "targets": targets,
        "listeners": listeners,
    }
    tagged = {"StringEquals": {making: eks_cluster_name}}
    new_group = {"ec2:CreateAction": "CreateSecurityGroup"}
    new_balancer = {
        "elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup"]
    }
    new_listener = {"elasticloadbalancing:CreateAction": ["CreateListener", "CreateRule"]}
    conditions: dict[str, dict[str, Any]] = {
        "for_load_balancing": {"StringEquals": {"iam:AWSServiceName": _SERVICE}},
        "in_vpc": {"ArnEquals": {"ec2:Vpc": vpc}},
        "making": tagged,
        "new_groups": {"StringEquals": {**new_group, **tagged["StringEquals"]}},
        "new_balancers": {"StringEquals": {**new_balancer, **tagged["StringEquals"]}},
        "new_listeners": {"StringEquals": {**new_listener, **tagged["StringEquals"]}},
        "own": {"StringEquals": {made: eks_cluster_name}},
        "retagged": {"Null": {making: "true"}, "StringEquals": {made: eks_cluster_name}},
    }
    for row in table_of(__package__, "load_balancers"):
        yield statement(
            scope,
            sid=row["sid"],
            why=row["why"],
            added_by=SWITCH,
            actions=row["actions"],
            resources=[arn for name in row["resources"] for arn in resources[name]],
            conditions=conditions[row["conditions"]] if "conditions" in row else None,
            wildcard=WILDCARD,
        )

"""The VPC is there, is the account's own, resolves names, and has what is named of it."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.existing_network import MEMBERS, Vpc, vpc_of_nodes
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_PATH = ("network", "vpc_id")
_ATTRIBUTES = {
    "enableDnsSupport": ("DNS support", "--enable-dns-support"),
    "enableDnsHostnames": ("DNS hostnames", "--enable-dns-hostnames"),
}


@validator(
    phase=Phase.PLACES,
    names=("VPC", *MEMBERS),
    iam=[
        "cloudformation:DescribeStacks",
        "ec2:DescribeInternetGateways",
        "ec2:DescribeNatGateways",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcAttribute",
        "ec2:DescribeVpcs",
    ],
)
def vpc(config: Config, target: Target) -> Problems:
    """The VPC does not exist, is another account's, lacks DNS, or what is named of it.

    Without both attributes, nodes do not register with EKS.

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html)
    """
    if config.network.vpc_id is not None:
        yield from _problems(config.network.vpc_id, target)
    named = [*named_resources(config, *MEMBERS)]
    nodes = vpc_of_nodes(config, target) if named else None
    if nodes is None:
        return
    there = {kind: nodes.members(kind) for kind in {name.kind for name in named}}
    for name in named:
        if name.value not in there[name.kind]:
            message = f"is no {name.kind} of {nodes.id}; name one of it"
            yield error(name.path, name.value, message), nodes.show(name.kind)


def _problems(vpc_id: str, target: Target) -> Problems:
    command = f"aws ec2 describe-vpcs --vpc-ids {vpc_id}"
    existing = Vpc(id=vpc_id, ec2=target.client("ec2"))
    record = existing.record()
    if record is None:
        message = (
            f"is not a VPC of account {target.account} in {target.region}; name one of "
            "`aws ec2 describe-vpcs`, or leave the key out for a new one"
        )
        yield error(_PATH, vpc_id, message), command
        return
    if record["OwnerId"] != target.account:
        message = (
            f"belongs to account {record['OwnerId']}, which shares it: the deployment works with "
            f"VPCs of its own account ({target.account}); deploy there, or name another VPC"
        )
        yield error(_PATH, vpc_id, message), command
    for attribute, (name, option) in _ATTRIBUTES.items():
        if not existing.has_attribute(attribute):
            message = (
                f"has {name} off, without which nodes do not join; turn it on: aws ec2 "
                f"modify-vpc-attribute --vpc-id {vpc_id} {option}"
            )
            look = f"aws ec2 describe-vpc-attribute --vpc-id {vpc_id} --attribute {attribute}"
            yield error(_PATH, vpc_id, message), look

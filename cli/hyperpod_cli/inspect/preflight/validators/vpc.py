"""The VPC is there, is the account's own, and resolves names."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.existing_network import Vpc
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_PATH = ("network", "vpc_id")
_ATTRIBUTES = {
    "enableDnsSupport": ("DNS support", "--enable-dns-support"),
    "enableDnsHostnames": ("DNS hostnames", "--enable-dns-hostnames"),
}


@validator(phase=Phase.PLACES, iam=["ec2:DescribeVpcAttribute", "ec2:DescribeVpcs"])
def vpc(config: Config, target: Target) -> Problems:
    """The VPC does not exist, or has DNS turned off.

    Without both attributes, nodes do not register with EKS.

    Keys: network.vpc_id

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html)
    """
    vpc_id = config.network.vpc_id
    if vpc_id is None:
        return
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

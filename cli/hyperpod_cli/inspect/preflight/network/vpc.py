"""The VPC is there, is the account's own, and resolves names."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.network.facts import Vpc
from hyperpod_cli.inspect.preflight.validator import Place, Problem

_PATH = ("network", "vpc_id")
_ATTRIBUTES = {
    "enableDnsSupport": ("DNS support", "--enable-dns-support"),
    "enableDnsHostnames": ("DNS hostnames", "--enable-dns-hostnames"),
}


def vpc(config: Config, place: Place) -> Iterator[Problem]:
    """Find what is wrong with the VPC itself.

    EKS needs both attributes, or nodes do not register:
    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    """
    vpc_id = config.network.vpc_id
    if vpc_id is None:
        return
    command = f"aws ec2 describe-vpcs --vpc-ids {vpc_id}"
    found = Vpc(id=vpc_id, ec2=place.client("ec2"))
    record = found.record()
    if record is None:
        message = (
            f"is not a VPC of account {place.account} in {place.region}; name one of "
            "`aws ec2 describe-vpcs`, or leave the key out for a new one"
        )
        yield Problem(finding=error(_PATH, vpc_id, message), command=command)
        return
    if record["OwnerId"] != place.account:
        message = (
            f"belongs to account {record['OwnerId']}, which shares it: the deployment works with "
            f"VPCs of its own account ({place.account}); deploy there, or name another VPC"
        )
        yield Problem(finding=error(_PATH, vpc_id, message), command=command)
    for attribute, (name, option) in _ATTRIBUTES.items():
        if not found.has_attribute(attribute):
            message = (
                f"has {name} off, without which nodes do not join; turn it on: aws ec2 "
                f"modify-vpc-attribute --vpc-id {vpc_id} {option}"
            )
            look = f"aws ec2 describe-vpc-attribute --vpc-id {vpc_id} --attribute {attribute}"
            yield Problem(finding=error(_PATH, vpc_id, message), command=look)

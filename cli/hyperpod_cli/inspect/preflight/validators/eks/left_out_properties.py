"""What the deployed control plane's template says, and that of this deployment leaves out."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.eks.section import ANYWHERE
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.aws.stacks import template_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_stacks.table import stack_name

_EKS_CLUSTER = "AWS::EKS::Cluster"
# https://www.rfc-editor.org/rfc/rfc5737
_OF_NOBODY = "192.0.2.0/24"


@validator(phase=Phase.FORMER_DEPLOYMENTS, iam=["cloudformation:GetTemplate"])
def left_out_properties(config: Config, target: Target) -> Problems:
    """The template no longer lists `eks.public_access_cidrs`, or `eks.deletion_protection`.

    Keys: eks.deletion_protection, eks.public_access_cidrs

    [CDK](https://github.com/aws/aws-cdk/issues/37926)
    """
    if config.eks.is_existing:
        return
    stack = stack_name(config, "platform")
    command = f"aws cloudformation get-template --stack-name {stack}"
    there = _deployed(stack, target)
    cidrs = there.get("ResourcesVpcConfig", {}).get("PublicAccessCidrs")
    if cidrs is not None and config.eks.stated_public_access_cidrs is None:
        kept = [cidr for cidr in cidrs if cidr != ANYWHERE] or [_OF_NOBODY]
        message = (
            f"takes the list out of the template of {stack}, which CloudFormation refuses; write "
            f"[{', '.join((ANYWHERE, *kept))}], which is anywhere too"
        )
        value = list(config.eks.public_access_cidrs)
        path = ("eks", "public_access_cidrs")
        yield error(path, value, message), command
    if "DeletionProtection" in there and config.eks.stated_deletion_protection is None:
        message = f"is left out, which CloudFormation may refuse after {stack} had it; write false"
        path = ("eks", "deletion_protection")
        yield error(path, None, message), command


def _deployed(stack: str, target: Target) -> Mapping[str, Any]:
    """Return the properties of the EKS cluster in the template of a stack; none without one."""
    template = template_of(target.client("cloudformation"), stack)
    for resource in template.get("Resources", {}).values():
        if resource["Type"] == _EKS_CLUSTER:
            return dict(resource["Properties"])
    return {}

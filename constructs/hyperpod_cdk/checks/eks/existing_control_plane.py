"""The network that an existing control plane is in, and that a new one needs."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def existing_control_plane(config: Config) -> Findings:
    """Find an existing control plane without its VPC, and one to be made without subnets in a VPC.

    Nodes are in the VPC of the control plane and carry its security group, by which the two reach
    each other.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """
    network = config.network
    if config.eks.is_existing:
        yield from _findings_beside_existing(config)
    elif network.vpc_id is None and not network.eks_subnet_cidrs:
        message = "must list at least 2 subnets: EKS needs two availability zones"
        yield error(("network", "eks_subnet_cidrs"), [], message)
    elif not (network.eks_subnet_cidrs or network.eks_subnet_ids):
        yield error(
            ("network", "eks_subnet_ids"),
            None,
            "is missing: name two subnets of the VPC for the control plane, or give "
            "eks_subnet_cidrs for new ones",
        )


def _findings_beside_existing(config: Config) -> Findings:
    network, name = config.network, config.eks_cluster_name
    see = f"`aws eks describe-cluster --name {name} --query cluster.resourcesVpcConfig` shows it"
    if network.vpc_id is None:
        message = f"is missing: nodes are in the VPC of {name}; {see}"
        yield error(("network", "vpc_id"), None, message)
    if network.closed:
        message = (
            f"must be left out with eks.cluster_arn: the VPC of {name} is there, and closed if "
            "its owner gave it VPC endpoints and no gateways"
        )
        yield error(("network", "closed"), True, message)
    if network.security_group_id is None:
        message = f"is missing: nodes carry a security group of {name}; {see}"
        yield error(("network", "security_group_id"), None, message)
    if network.vpc_id is None:
        return  # without it, the section has subnets for a control plane, by default
    for key in ("eks_subnet_cidrs", "eks_subnet_ids"):
        value = getattr(network, key)
        if value:
            message = f"must be left out: eks.cluster_arn names {name}, which has its subnets"
            yield error(("network", key), list(value), message)

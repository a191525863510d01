"""The private subnets have a way out, or it is said that they get one."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error, warning


def way_out(config: Config) -> Findings:
    """Find a new VPC without NAT gateways: what is in it reaches no AWS API and no registry.

    A closed network, which has VPC endpoints, is judged by `closed_network`.

    Another way, such as a transit gateway, can be added once the platform stack is there; but a
    provisioner in the VPC needs one while that stack is created.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    network = config.network
    if network.vpc_id is not None or network.closed or network.nat_gateways != "none":
        return
    path, value = ("network", "nat_gateways"), network.nat_gateways
    if config.eks.is_reachable_from_anywhere:
        message = (
            "leaves nodes without a way to AWS's APIs and registries: deploy "
            f"{config.name}-platform alone, add routes for 0.0.0.0/0 to the route tables of the "
            "HyperPod subnets, then deploy the rest; or choose single or one_per_zone"
        )
        yield warning(path, value, message)
    else:
        message = (
            "cuts off the provisioner, which is in the VPC because not every address reaches the "
            "Kubernetes API; choose single or one_per_zone, or name a VPC with a route to the "
            "internet in network.vpc_id"
        )
        yield error(path, value, message)
